package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.peer.Member;
import dev.trunkline.benchmarks.peer.ReferenceCounts;
import dev.trunkline.benchmarks.peer.Sender;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Groups that count themselves in each message, with the cleanup that this needs. */
final class CountedMessages implements ManyGroups {

    private final Duration kept;
    private final FetchTimes fetches;
    private final ReferenceCounts counts;
    private final Connection cleaning;
    private final Member member;
    private final BlockingQueue<Sender> senders = new ArrayBlockingQueue<>(FanOut.PUBLISHERS);
    private final AtomicLongArray handled;
    private final AtomicLong published = new AtomicLong();
    private final AtomicLong deleted = new AtomicLong();

    CountedMessages(Workbench bench, int groups, Duration kept) throws Exception {
        this.kept = kept;
        this.fetches = new FetchTimes(bench.address());
        this.counts = new ReferenceCounts(bench.address(), fetches::executeQuery);
        counts.clear(groups);
        this.cleaning = bench.address().connect();
        cleaning.setAutoCommit(false);
        this.member = counts.join();
        this.handled = new AtomicLongArray(groups);
        for (int i = 0; i < FanOut.PUBLISHERS; i++) {
            senders.add(member.sender());
        }
        for (int i = 0; i < groups; i++) {
            int group = i;
            member.consume(group, letter -> handled.incrementAndGet(group));
        }
    }

    @Override
    public String schema() {
        return ReferenceCounts.SCHEMA;
    }

    @Override
    public long publish(int messages) throws Exception {
        Sender sender = senders.take();
        try {
            sender.send(Samples.letters(messages));
        } finally {
            senders.add(sender);
        }
        published.addAndGet(messages);
        return messages;
    }

    @Override
    public long handled() {
        long sum = 0;
        for (int i = 0; i < handled.length(); i++) {
            sum += handled.get(i);
        }
        return sum;
    }

    @Override
    public void cleanUp() throws SQLException {
        ReferenceCounts.Deleted gone;
        do {
            gone = counts.delete(cleaning, kept);
            Tally.require(
                    "acknowledged and deleted", (long) gone.messages() * handled.length(), gone.acknowledgements());
            cleaning.commit();
            deleted.addAndGet(gone.messages());
        } while (gone.messages() == ReferenceCounts.DELETED_AT_ONCE);
    }

    @Override
    public long kept() {
        return published.get() - deleted.get();
    }

    @Override
    public FetchTimes fetches() {
        return fetches;
    }

    @Override
    public void end(long published) throws SQLException {
        member.close();
        for (int group = 0; group < handled.length(); group++) {
            long acknowledged = deleted.get() + counts.acknowledged(cleaning, group);
            Tally.require("acknowledged by group " + group, handled.get(group), acknowledged);
        }
    }

    @Override
    public void close() throws SQLException {
        member.close();
        cleaning.close();
    }
}
