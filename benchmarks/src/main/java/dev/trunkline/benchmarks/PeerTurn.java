package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Meter;
import dev.trunkline.benchmarks.database.Meter.Usage;
import dev.trunkline.benchmarks.peer.Letter;
import dev.trunkline.benchmarks.peer.Member;
import dev.trunkline.benchmarks.peer.Peer;
import dev.trunkline.benchmarks.peer.Sender;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
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
 * @param counted which last part of the time counts
 */
record PeerTurn(
        int groups, int publishers, int batch, int mostAhead, IntFunction<List<Letter>> letters, double counted) {

    private static final int MOST_AHEAD = 50_000;

    PeerTurn(int groups, int publishers, int batch) {
        this(groups, publishers, batch, MOST_AHEAD, Samples::letters, 1);
    }

    /** With messages of so many bytes. */
    PeerTurn withPayload(byte[] payload, int newMostAhead) {
        return new PeerTurn(groups, publishers, batch, newMostAhead, count -> Samples.letters(payload, count), counted);
    }

    PeerTurn countingLast(double part) {
        return new PeerTurn(groups, publishers, batch, mostAhead, letters, part);
    }

    /** Who consumes, as long as it is open. */
    @FunctionalInterface
    interface Consumers extends AutoCloseable {
        @Override
        void close();

        /** All groups, by the member that also publishes. */
        static Consumers inThisProcess(Member member, Flow flow) throws Exception {
            for (int group = 0; group < flow.groups(); group++) {
                int mine = group;
                member.consume(group, letter -> flow.handled(mine));
            }
            return () -> {};
        }
    }

    /** Begins to consume. */
    @FunctionalInterface
    interface Start {
        Consumers start(Member member, Flow flow) throws Exception;
    }

    /**
     * What was seen.
     *
     * @param perSecond messages handled in a second, by all groups together
     * @param handled messages, by all groups together, until the end
     * @param usage of the database from the first message to the end
     */
    record Seen(double perSecond, long handled, Usage usage, MemoryUse memory) {}

    Seen run(Address address, Peer peer, double seconds) throws Exception {
        return run(address, peer, Consumers::inThisProcess, seconds);
    }

    Seen run(Address address, Peer peer, Start start, double seconds) throws Exception {
        peer.clear(groups);
        try (Meter meter = new Meter(address);
                Flow flow = new Flow(groups, mostAhead)) {
            Usage before = meter.read();
            MemoryUse.reset();
            double perSecond = publish(peer, flow, start, seconds);
            MemoryUse memory = MemoryUse.read(peer.broker().stream());
            return new Seen(perSecond, flow.handled(), meter.read().since(before), memory);
        }
    }

    @SuppressWarnings("try") // consumers need only be there
    private double publish(Peer peer, Flow flow, Start start, double seconds) throws Exception {
        double perSecond;
        long published;
        try (Member member = peer.join();
                Crew crew = crew(member, flow);
                Consumers consumers = start.start(member, flow)) {
            awaitReady(member, flow);
            long end = System.nanoTime() + (long) (seconds * 1e9);
            Counting counting = new Counting();
            Crew.Shift shift = crew.start(units -> end - System.nanoTime() > 0 || counting.lacks(units));
            Pace.sleepUntil(end - (long) (seconds * counted * 1e9));
            long from = System.nanoTime();
            long before = flow.handled();
            counting.began();
            Pace.sleepUntil(end);
            flow.awaitMore(before);
            perSecond = (flow.handled() - before) * 1e9 / (System.nanoTime() - from);
            published = 1 + shift.join();
            flow.await(published);
        }
        flow.require(published);
        return perSecond;
    }

    /** Sees to it that something is published after counting began, even if that is late because the machine stalls. */
    private static final class Counting {
        private final AtomicLong units = new AtomicLong(-1);
        private volatile boolean began;

        void began() {
            began = true;
        }

        boolean lacks(long now) {
            return !began || now <= units.updateAndGet(first -> first < 0 ? now : first);
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
