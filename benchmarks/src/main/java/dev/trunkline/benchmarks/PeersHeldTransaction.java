package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Design.Trait;
import dev.trunkline.benchmarks.peer.Peer;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;

/** A transaction held open for long, by somebody else: the end of that time, against the end of as long a time without, for each design. */
final class PeersHeldTransaction implements Scenario {

    private static final int PUBLISHERS = 4;
    private static final int BATCH = 20;
    private static final double LAST_PART = 1 / 3.0;

    @Override
    public String name() {
        return "peers-held-transaction";
    }

    @Override
    public String summary() {
        return "messages handled in the last third of a time with a transaction held open, against one without, for each design";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        double seconds =
                Math.max(bench.effort().seconds(), bench.effort().amounts().heldSeconds());
        List<Result> results = new ArrayList<>();
        HeldTransaction.prepare(bench);
        for (Design design : bench.reliable(fit -> fit.has(Trait.POSTGRES))) {
            try (Peer peer = design.open(bench.address())) {
                results.add(result(bench, design, peer, seconds));
            }
        }
        return results;
    }

    private Result result(Workbench bench, Design design, Peer peer, double seconds) throws Exception {
        PeerTurn turn = new PeerTurn(1, PUBLISHERS, BATCH).countingLast(LAST_PART);
        bench.progress("%s: 1 of 2, %s".formatted(name(), design.name()));
        double[] free = {turn.run(bench.address(), peer, seconds).perSecond()};
        bench.progress("%s: 2 of 2, %s".formatted(name(), design.name()));
        double[] held = new double[1];
        try (Connection holder = HeldTransaction.hold(bench)) {
            held[0] = turn.run(bench.address(), peer, seconds).perSecond();
            holder.rollback();
        }
        return Result.of(
                        name() + "-" + design.name(),
                        "messages/s in the last third",
                        held,
                        design.words() + "; the last third while nobody holds a transaction open",
                        free,
                        Numbers.ratios(held, free),
                        design.equals(Design.TRUNKLINE) ? Target.atLeast(0.9) : Target.none())
                .with("seconds", seconds);
    }
}
