package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.peer.Design;
import java.util.ArrayList;
import java.util.List;

/** Publishing and handling at the same time, by one group: Trunkline against others. */
final class EndToEnd implements Scenario {

    private static final int CROWD = 256;
    private static final int LOADERS = 8;
    private static final int BATCH = 100;

    private final String name;
    private final List<Design> designs;
    private final int mostRepetitions;

    private EndToEnd(String name, List<Design> designs, int mostRepetitions) {
        this.name = name;
        this.designs = designs;
        this.mostRepetitions = mostRepetitions;
    }

    /** Against the queues that one would write. */
    static EndToEnd againstQueues() {
        return new EndToEnd("end-to-end", List.of(Design.TRUNKLINE, Design.TEXTBOOK, Design.TEXTBOOK_BATCHES), 5);
    }

    /** Against all. */
    static EndToEnd againstAll() {
        return new EndToEnd("peers-queue", Design.ALL, 3);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String summary() {
        return "256 publishers of single messages, or 8 of batches of 100, and one group: messages handled; against %d others"
                .formatted(designs.size() - 1);
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        Workbench turns = bench.atMost(mostRepetitions);
        List<Result> results = new ArrayList<>();
        try (Peers peers = new Peers(bench, designs)) {
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
