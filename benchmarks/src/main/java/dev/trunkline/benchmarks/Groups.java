package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.PeerTurn.Seen;
import dev.trunkline.benchmarks.Scaling.Turn;
import dev.trunkline.benchmarks.peer.Design;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** More and more groups in one process: what a message costs the database each time that it is handled. */
final class Groups implements Scenario {

    private static final int LOADERS = 8;
    private static final int BATCH = 100;
    private static final int MANY = 64;

    @Override
    public String name() {
        return "groups";
    }

    @Override
    public String summary() {
        return "1 to 128 groups in one process: messages handled, and what each costs the database; against one group";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        List<Integer> numbers = bench.effort().series().groups();
        Scaling scaling = new Scaling(bench.forPeers(), name(), name())
                .run(numbers, groups -> new Turn(Design.TRUNKLINE, new PeerTurn(groups, LOADERS, BATCH)));
        int one = numbers.getFirst();
        return Stream.of(
                        scaling.compare(
                                "",
                                "messages/s handled, by all groups together",
                                one,
                                Seen::perSecond,
                                groups -> Target.atLeast(groups == one ? 1 : 0.9)),
                        scaling.compare(
                                "-cpu",
                                "microseconds of the database for each message and group",
                                one,
                                per(seen -> seen.usage().cpuSeconds() * 1e6),
                                Groups::target),
                        scaling.compare(
                                "-wal",
                                "bytes of WAL for each message and group",
                                one,
                                per(seen -> seen.usage().walBytes()),
                                Groups::target))
                .flatMap(List::stream)
                .toList();
    }

    private static ToDoubleFunction<Seen> per(ToDoubleFunction<Seen> amount) {
        return seen -> amount.applyAsDouble(seen) / seen.handled();
    }

    private static Target target(int groups) {
        return groups == MANY ? Target.atMost(0.1, "64 groups / 1 group") : Target.none();
    }
}
