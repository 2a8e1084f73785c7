package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Letter;
import dev.trunkline.benchmarks.peer.Member;
import dev.trunkline.benchmarks.peer.Peer;
import dev.trunkline.benchmarks.peer.Sender;
import java.util.ArrayList;
import java.util.List;

/** One key of 10,000 whose messages always fail: what the other keys lose, in each design. */
final class PeersPoisonKey implements Scenario {

    private static final int PUBLISHERS = 4;
    private static final int BATCH = 20;
    private static final int MOST_AHEAD = 20_000;
    private static final String POISON = Samples.key(0);
    private static final String EVEN = "even";
    private static final String POISONED = "poisoned";

    @Override
    public String name() {
        return "peers-poison-key";
    }

    @Override
    public String summary() {
        return "one key of 10,000 always fails: the rate of the others, against none failing, for each design";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        List<Result> results = new ArrayList<>();
        for (Design design : bench.reliable(fit -> true)) {
            try (Peer peer = design.open(bench.address())) {
                String scenario = name() + "-" + design.name();
                results.add(new Contest(bench.forPeers(), scenario)
                        .with(EVEN, seconds -> rateOfOthers(peer, false, Math.max(seconds, design.leastSeconds())))
                        .with(POISONED, seconds -> rateOfOthers(peer, true, Math.max(seconds, design.leastSeconds())))
                        .run()
                        .compare(
                                scenario,
                                "messages/s of the other keys",
                                POISONED,
                                EVEN,
                                design.words() + "; without a key that fails",
                                design.equals(Design.TRUNKLINE) ? Target.atLeast(0.95) : Target.none()));
            }
        }
        return results;
    }

    /** What was sent and not handled at the end is let go: who stands still behind a failing message would take for ever. */
    private static double rateOfOthers(Peer peer, boolean poisoned, double seconds) throws Exception {
        peer.clear(1);
        try (Flow flow = new Flow(1, MOST_AHEAD);
                Member member = peer.join();
                Crew crew = Crew.of(PUBLISHERS, () -> publisher(member.sender(), flow))) {
            member.consume(0, letter -> {
                if (POISON.equals(letter.key())) {
                    if (poisoned) {
                        throw new IllegalStateException("a message of the key that fails");
                    }
                } else {
                    flow.handled(0);
                }
            });
            member.sender().send(List.of(new Letter(Samples.key(1), Samples.payload())));
            flow.await(1);
            long began = System.nanoTime();
            Crew.Shift shift = crew.start(units -> System.nanoTime() - began < seconds * 1e9);
            Pace.sleepUntil(began + (long) (seconds * 1e9));
            double perSecond = flow.handled() * 1e9 / (System.nanoTime() - began);
            flow.open();
            shift.join();
            return perSecond;
        }
    }

    private static Crew.Worker publisher(Sender sender, Flow flow) {
        return () -> {
            List<Letter> letters = Samples.letters(BATCH);
            flow.awaitRoom((int) letters.stream()
                    .filter(letter -> !POISON.equals(letter.key()))
                    .count());
            sender.send(letters);
            return BATCH;
        };
    }
}
