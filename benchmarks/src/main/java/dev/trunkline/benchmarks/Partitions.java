package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.PeerTurn.Seen;
import dev.trunkline.benchmarks.Scaling.Turn;
import dev.trunkline.benchmarks.peer.Design;
import java.util.List;

/** Topics of few and of many partitions. */
final class Partitions implements Scenario {

    private static final int LOADERS = 8;
    private static final int BATCH = 100;

    @Override
    public String name() {
        return "partitions";
    }

    @Override
    public String summary() {
        return "publishing and handling with 1 to 256 partitions, one group; against 16, the default";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        return new Scaling(bench.forPeers(), name(), name())
                .run(
                        bench.effort().series().partitions(),
                        partitions -> new Turn(Design.trunkline(partitions), new PeerTurn(1, LOADERS, BATCH)))
                .compare("", "messages/s", Samples.PARTITIONS, Seen::perSecond, partitions -> Target.none());
    }
}
