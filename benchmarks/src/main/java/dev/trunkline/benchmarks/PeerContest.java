package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Meter.Usage;
import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Peer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/** Peers that do the same by turns, and what each turn has cost. */
final class PeerContest {

    private final Workbench bench;
    private final String scenario;
    private final PeerTurn turn;
    private final Function<Design, PeerTurn.Start> consuming;

    PeerContest(Workbench bench, String scenario, PeerTurn turn) {
        this(bench, scenario, turn, design -> PeerTurn.Consumers::inThisProcess);
    }

    /** @param consuming who begins to consume for a design */
    PeerContest(Workbench bench, String scenario, PeerTurn turn, Function<Design, PeerTurn.Start> consuming) {
        this.bench = bench;
        this.scenario = scenario;
        this.turn = turn;
        this.consuming = consuming;
    }

    /** Trunkline against each of the others. */
    List<Result> run(Map<Design, Peer> peers, Function<Design, Target> targets) throws Exception {
        Contest contest = new Contest(bench, scenario);
        Map<Design, Costs> costs = new LinkedHashMap<>();
        peers.forEach((design, peer) -> {
            Costs mine = new Costs(bench.effort().repetitions());
            costs.put(design, mine);
            contest.with(design.name(), seconds -> {
                PeerTurn.Seen seen = turn.run(
                        bench.address(), peer, consuming.apply(design), Math.max(seconds, design.leastSeconds()));
                mine.add(seen);
                return seen.perSecond();
            });
        });
        Contest.Turns turns = contest.run();
        List<Result> results = new ArrayList<>();
        for (Design design : peers.keySet()) {
            if (!design.equals(Design.TRUNKLINE)) {
                results.add(turns.compare(
                                scenario,
                                turn.groups() == 1 ? "messages/s" : "messages/s handled, by all groups together",
                                Design.TRUNKLINE.name(),
                                design.name(),
                                design.words(),
                                targets.apply(design))
                        .with("system", design.name())
                        .with("publishers", turn.publishers())
                        .with("batch", turn.batch())
                        .with(Design.TRUNKLINE.name(), figures(costs, Design.TRUNKLINE))
                        .with(design.name(), figures(costs, design)));
            }
        }
        return results;
    }

    private static Map<String, Object> figures(Map<Design, Costs> costs, Design design) {
        return Objects.requireNonNull(costs.get(design)).figures();
    }

    /** What the turns of one peer have cost: those that count, which are the last. */
    private static final class Costs {
        private static final Usage NOTHING = new Usage(0, 0, 0, 0);

        private final int turns;
        private final ArrayDeque<PeerTurn.Seen> last = new ArrayDeque<>();

        Costs(int turns) {
            this.turns = turns;
        }

        void add(PeerTurn.Seen seen) {
            last.add(seen);
            if (last.size() > turns) {
                last.remove();
            }
        }

        Map<String, Object> figures() {
            Usage usage = last.stream().map(PeerTurn.Seen::usage).reduce(NOTHING, Usage::plus);
            MemoryUse memory = last.stream().map(PeerTurn.Seen::memory).reduce(MemoryUse.NONE, MemoryUse::max);
            Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("walBytesPerMessage", per(usage.walBytes()));
            figures.put("rowsWrittenPerMessage", per(usage.rows()));
            figures.put("deadRowsPerMessage", per(usage.dead()));
            figures.put("databaseMicrosPerMessage", per(usage.cpuSeconds() * 1e6));
            figures.put("peakHeapMegabytes", memory.peakHeap());
            figures.put("residentMegabytes", memory.resident());
            if (memory.broker() > 0) {
                figures.put("brokerMegabytes", memory.broker());
            }
            return figures;
        }

        private double per(double amount) {
            return Result.digits(
                    amount / last.stream().mapToLong(PeerTurn.Seen::handled).sum());
        }
    }
}
