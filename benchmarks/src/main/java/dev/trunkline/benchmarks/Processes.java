package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.PeerTurn.Consumers;
import dev.trunkline.benchmarks.peer.Design;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** 16 groups, spread over one to four processes; one more process publishes. */
final class Processes implements Scenario {

    private static final int GROUPS = 16;
    private static final int LOADERS = 8;
    private static final int BATCH = 100;
    private static final int MANY = 4;

    @Override
    public String name() {
        return "processes";
    }

    @Override
    public String summary() {
        return "16 groups in 1 to 4 processes, publishers in another: messages handled by all together; against reference counts";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        List<Result> results = new ArrayList<>();
        PeerTurn turn = new PeerTurn(GROUPS, LOADERS, BATCH);
        try (Peers peers = new Peers(bench, List.of(Design.TRUNKLINE, Design.REFERENCE_COUNTS))) {
            for (int processes : bench.effort().series().processes()) {
                new PeerContest(
                                bench.forPeers(),
                                name(),
                                turn,
                                design -> (member, flow) -> start(bench, design, processes, flow))
                        .run(peers.all(), design -> processes == MANY ? Target.atLeast(5) : Target.none()).stream()
                                .map(result -> result.at(name(), processes))
                                .forEach(results::add);
            }
        }
        return results;
    }

    private static Consumers start(Workbench bench, Design design, int processes, Flow flow) throws Exception {
        List<ConsumerProcess> started = new ArrayList<>();
        try {
            for (int i = 0; i < processes; i++) {
                int process = i;
                List<Integer> groups = IntStream.range(0, GROUPS)
                        .filter(group -> group % processes == process)
                        .boxed()
                        .toList();
                started.add(new ConsumerProcess(bench.address(), design, groups, flow));
            }
        } catch (Exception e) {
            started.forEach(ConsumerProcess::close);
            throw e;
        }
        return () -> started.forEach(ConsumerProcess::close);
    }
}
