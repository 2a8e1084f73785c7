package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Meter;
import dev.trunkline.benchmarks.database.Meter.Usage;
import dev.trunkline.benchmarks.peer.Letter;
import dev.trunkline.benchmarks.peer.Member;
import dev.trunkline.benchmarks.peer.Peer;
import dev.trunkline.benchmarks.peer.Sender;
import java.util.List;
import java.util.function.IntFunction;

/**
 * One turn of one peer. Publishers send as fast as they can, but are never more than a bound ahead of the slowest group: what counts is
 * what was handled meanwhile. Then all that was sent is handled, and counted.
 *
 * @param groups that get each message
 * @param publishers threads
 * @param batch messages of a call
 * @param mostAhead messages that may be sent and not handled, at most
 * @param letters so many messages
 */
record PeerTurn(int groups, int publishers, int batch, int mostAhead, IntFunction<List<Letter>> letters) {

    private static final int MOST_AHEAD = 50_000;

    PeerTurn(int groups, int publishers, int batch) {
        this(groups, publishers, batch, MOST_AHEAD, Samples::letters);
    }

    /**
     * What was seen.
     *
     * @param perSecond messages handled in a second, by all groups together
     * @param handled messages, by all groups together, until the end
     * @param usage of the database from the first message to the end
     * @param peakHeap of this process, in bytes
     */
    record Seen(double perSecond, long handled, Usage usage, long peakHeap) {}

    Seen run(Address address, Peer peer, double seconds) throws Exception {
        peer.clear(groups);
        try (Meter meter = new Meter(address);
                Flow flow = new Flow(groups, mostAhead)) {
            Usage before = meter.read();
            Heap.reset();
            long published;
            double perSecond;
            try (Member member = peer.join();
                    Crew crew = crew(member, flow)) {
                for (int group = 0; group < groups; group++) {
                    int mine = group;
                    member.consume(group, letter -> flow.handled(mine));
                }
                awaitReady(member, flow);
                long began = System.nanoTime();
                Crew.Shift shift = crew.start(units -> System.nanoTime() - began < seconds * 1e9);
                Pace.sleepUntil(began + (long) (seconds * 1e9));
                perSecond = (flow.handled() - groups) * 1e9 / (System.nanoTime() - began);
                published = 1 + shift.join();
                flow.await(published);
            }
            flow.require(published);
            return new Seen(perSecond, flow.handled(), meter.read().since(before), Heap.peak());
        }
    }

    /** Until a first message has come through to all. */
    private void awaitReady(Member member, Flow flow) throws Exception {
        flow.awaitRoom(1);
        member.sender().send(letters.apply(1));
        flow.await(1);
    }

    private Crew crew(Member member, Flow flow) throws Exception {
        return Crew.of(publishers, () -> {
            Sender sender = member.sender();
            return () -> {
                flow.awaitRoom(batch);
                sender.send(letters.apply(batch));
                return batch;
            };
        });
    }
}
