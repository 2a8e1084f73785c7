package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.PeerTurn.Seen;
import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Peer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;

/** The same turn of Trunkline for several numbers of something, each against one of them. */
final class Scaling {

    private final Workbench bench;
    private final String scenario;
    private final String xName;
    private final Map<Integer, List<Seen>> seen = new LinkedHashMap<>();

    Scaling(Workbench bench, String scenario, String xName) {
        this.bench = bench;
        this.scenario = scenario;
        this.xName = xName;
    }

    /** Opens what takes the turns, and says which turn, for one of the numbers. */
    @FunctionalInterface
    interface Setting {
        Turn of(int number);
    }

    record Turn(Design design, PeerTurn turn) {}

    /** All take their turns. */
    Scaling run(List<Integer> numbers, Setting setting) throws Exception {
        Contest contest = new Contest(bench, scenario);
        List<Peer> peers = new ArrayList<>();
        try {
            for (int number : numbers) {
                Turn turn = setting.of(number);
                Peer peer = turn.design().open(bench.address());
                peers.add(peer);
                List<Seen> mine = seen.computeIfAbsent(number, n -> new ArrayList<>());
                contest.with(Integer.toString(number), seconds -> {
                    mine.add(turn.turn().run(bench.address(), peer, seconds));
                    return mine.getLast().perSecond();
                });
            }
            contest.run();
        } finally {
            peers.forEach(Peer::close);
        }
        return this;
    }

    /** A figure of every number, against that of one of them. */
    List<Result> compare(
            String suffix, String unit, int base, ToDoubleFunction<Seen> figure, IntFunction<Target> targets) {
        return seen.keySet().stream()
                .map(number -> Result.of(
                                scenario + suffix,
                                unit,
                                figures(number, figure),
                                "the same with %s = %d".formatted(xName, base),
                                figures(base, figure),
                                Numbers.ratios(figures(number, figure), figures(base, figure)),
                                targets.apply(number))
                        .at(xName, number))
                .toList();
    }

    /** Of the turns that count, which are the last. */
    private double[] figures(int number, ToDoubleFunction<Seen> figure) {
        List<Seen> turns = seen.getOrDefault(number, List.of());
        return turns.subList(turns.size() - bench.effort().repetitions(), turns.size()).stream()
                .mapToDouble(figure)
                .toArray();
    }
}
