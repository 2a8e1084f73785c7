package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Design.Trait;
import java.util.ArrayList;
import java.util.List;

/** Every message goes to each of many groups of one process, as fast as they can: Trunkline against others. */
final class PeersFanOut implements Scenario {

    private static final int LOADERS = 8;
    private static final int BATCH = 100;
    private static final int MANY = 64;

    @Override
    public String name() {
        return "peers-fan-out";
    }

    @Override
    public String summary() {
        return "8 publishers of batches of 100, and 1 to 64 groups that get every message: handled by all together; against others";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        List<Design> designs = bench.reliable(design -> design.has(Trait.FAN_OUT));
        List<Result> results = new ArrayList<>();
        try (Peers peers = new Peers(bench, designs)) {
            for (int groups : bench.effort().series().peerGroups()) {
                PeerTurn turn = new PeerTurn(groups, LOADERS, BATCH);
                new PeerContest(bench.forPeers(), name(), turn)
                        .run(peers.all(), design -> target(design, groups)).stream()
                                .map(result -> result.at("groups", groups))
                                .forEach(results::add);
            }
        }
        return results;
    }

    private static Target target(Design design, int groups) {
        return groups == MANY && design.equals(Design.REFERENCE_COUNTS) ? Target.atLeast(20) : Target.none();
    }
}
