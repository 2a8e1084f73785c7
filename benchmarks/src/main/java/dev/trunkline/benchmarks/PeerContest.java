package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Meter.Usage;
import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Peer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
            Costs mine = new Costs();
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
                        .with(
                                Design.TRUNKLINE.name(),
                                costs.getOrDefault(Design.TRUNKLINE, new Costs())
                                        .figures())
                        .with(
                                design.name(),
                                costs.getOrDefault(design, new Costs()).figures()));
            }
        }
        return results;
    }

    /** What the turns of one peer have cost, without the first, which is the warm-up. */
    private static final class Costs {
        private boolean warm;
        private long handled;
        private Usage usage = new Usage(0, 0, 0, 0);
        private MemoryUse memory = MemoryUse.NONE;

        void add(PeerTurn.Seen seen) {
            if (warm) {
                handled += seen.handled();
                usage = usage.plus(seen.usage());
                memory = memory.max(seen.memory());
            }
            warm = true;
        }

        Map<String, Object> figures() {
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
            return Result.digits(amount / handled);
        }
    }
}
