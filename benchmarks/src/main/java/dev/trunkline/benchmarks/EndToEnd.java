package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.peer.Design;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Publishing and handling at the same time, by one group: Trunkline against others. */
final class EndToEnd implements Scenario {

    private static final int CROWD = 256;
    private static final int LOADERS = 8;
    private static final int BATCH = 100;
    private static final List<String> QUEUES =
            List.of("trunkline", "textbook", "textbook-batches", "visibility-timeout");

    private final String name;
    private final Predicate<Design> fit;

    private EndToEnd(String name, Predicate<Design> fit) {
        this.name = name;
        this.fit = fit;
    }

    /** Against the queues that one would write. */
    static EndToEnd againstQueues() {
        return new EndToEnd("end-to-end", design -> QUEUES.contains(design.name()));
    }

    /** Against all. */
    static EndToEnd againstAll() {
        return new EndToEnd("peers-queue", design -> true);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String summary() {
        return "256 publishers of single messages, or 8 of batches of 100, and one group: messages handled; against others";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        Workbench turns = bench.forPeers();
        List<Result> results = new ArrayList<>();
        try (Peers peers = new Peers(bench, bench.reliable(fit))) {
            PeerTurn singles = new PeerTurn(1, CROWD, 1);
            PeerTurn batches = new PeerTurn(1, LOADERS, BATCH);
            results.addAll(new PeerContest(turns, name + "-single", singles).run(peers.all(), EndToEnd::target));
            results.addAll(new PeerContest(turns, name + "-batches", batches).run(peers.all(), EndToEnd::target));
        }
        return results;
    }

    private static Target target(Design design) {
        return switch (design.name()) {
            case "textbook", "textbook-batches" -> Target.atLeast(10);
            case "visibility-timeout" -> Target.atLeast(5);
            default -> Target.none();
        };
    }
}
