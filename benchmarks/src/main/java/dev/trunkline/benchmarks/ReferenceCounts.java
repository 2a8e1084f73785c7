package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Messages that count the groups that are done with them, re-implemented from a published design: a trigger sets how many groups a
 * message needs, each group adds an acknowledgement and counts up, and who counts last marks the message completed. Where that design
 * left a choice, it is the cheaper one: whole batches, no foreign key, no counter in an index, room for updates in every page.
 */
final class ReferenceCounts implements ManyGroups {

    private static final int BATCH = 500;
    /** With more, they lock each other's messages, skip those, and fetch more slowly. */
    private static final int CONNECTIONS = 4;

    static final String WORDS =
            "reference counts: a message row with counters, an acknowledgement row for each group, %d messages a commit, %d connections"
                    .formatted(BATCH, CONNECTIONS);

    private static final int DELETED_AT_ONCE = 10_000;
    private static final long NAP = 5_000_000;
    private static final Sql SQL = new Sql("");

    private final Duration kept;
    private final Connection cleaning;
    private final List<Connection> publishing = new ArrayList<>();
    private final BlockingQueue<Connection> publishers = new ArrayBlockingQueue<>(FanOut.PUBLISHERS);
    private final FetchTimes fetches;
    private final AtomicLongArray handled;
    private final AtomicBoolean ended = new AtomicBoolean();
    private final Crew members;
    private final Crew.Shift working;
    private final AtomicLong published = new AtomicLong();
    private final AtomicLong deleted = new AtomicLong();

    ReferenceCounts(Workbench bench, int groups, Duration kept) throws Exception {
        this.kept = kept;
        this.fetches = new FetchTimes(bench.address());
        this.cleaning = bench.address().connect();
        Query.execute(cleaning, SQL.get("createCounts"));
        try (PreparedStatement subscribe = cleaning.prepareStatement(SQL.get("subscribeCounted"))) {
            subscribe.setString(1, Installation.TOPIC);
            subscribe.setInt(2, groups);
            subscribe.executeUpdate();
        }
        cleaning.setAutoCommit(false);
        for (int i = 0; i < FanOut.PUBLISHERS; i++) {
            publishing.add(bench.address().connect());
        }
        publishers.addAll(publishing);
        this.handled = new AtomicLongArray(groups);
        int size = Math.min(groups, CONNECTIONS);
        AtomicInteger next = new AtomicInteger();
        this.members = Crew.of(size, () -> new Member(bench.address().connect(), next.getAndIncrement(), size));
        this.working = members.start(units -> !ended.get());
    }

    @Override
    public String schema() {
        return "trunkline_bench_raw";
    }

    @Override
    public long publish(int messages) throws Exception {
        String[] keys = new String[messages];
        byte[][] payloads = new byte[messages][];
        Arrays.setAll(keys, i -> Samples.key());
        Arrays.setAll(payloads, i -> Samples.payload());
        Connection connection = publishers.take();
        try (PreparedStatement publish = connection.prepareStatement(SQL.get("publishCounted"))) {
            publish.setString(1, Installation.TOPIC);
            publish.setArray(2, connection.createArrayOf("text", keys));
            publish.setArray(3, connection.createArrayOf("bytea", payloads));
            int added = publish.executeUpdate();
            published.addAndGet(added);
            return added;
        } finally {
            publishers.add(connection);
        }
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
        int gone;
        do {
            gone = delete();
            deleted.addAndGet(gone);
        } while (gone == DELETED_AT_ONCE);
    }

    private int delete() throws SQLException {
        List<Long> gone = new ArrayList<>();
        try (PreparedStatement delete = cleaning.prepareStatement(SQL.get("deleteCounted", DELETED_AT_ONCE))) {
            delete.setDouble(1, kept.toMillis() / 1e3);
            try (ResultSet row = delete.executeQuery()) {
                while (row.next()) {
                    gone.add(row.getLong(1));
                }
            }
        }
        try (PreparedStatement delete = cleaning.prepareStatement(SQL.get("deleteAcknowledgements"))) {
            delete.setArray(1, cleaning.createArrayOf("int8", gone.toArray()));
            Tally.require("acknowledged and deleted", (long) gone.size() * handled.length(), delete.executeUpdate());
        }
        cleaning.commit();
        return gone.size();
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
    public void end(long published) throws Exception {
        ended.set(true);
        working.join();
        for (int i = 0; i < handled.length(); i++) {
            long acknowledged = deleted.get() + Query.number(cleaning, SQL.get("acknowledgedBy"), group(i));
            Tally.require("acknowledged by " + group(i), handled.get(i), acknowledged);
        }
    }

    @Override
    public void close() throws SQLException {
        ended.set(true);
        members.close();
        for (Connection connection : publishing) {
            connection.close();
        }
        cleaning.close();
    }

    private static String group(int number) {
        return "group-" + number;
    }

    /** Works for every so many-th group, one after the other, so that a group has one member. */
    private final class Member extends RawInsert.OnConnection {
        private final Connection connection;
        private final int first;
        private final int step;
        private final PreparedStatement fetch;
        private final PreparedStatement acknowledge;
        private final PreparedStatement complete;

        Member(Connection connection, int first, int step) throws SQLException {
            super(connection);
            this.connection = connection;
            this.first = first;
            this.step = step;
            connection.setAutoCommit(false);
            this.fetch = connection.prepareStatement(SQL.get("fetchCounted", BATCH));
            this.acknowledge = connection.prepareStatement(SQL.get("acknowledgeCounted"));
            this.complete = connection.prepareStatement(SQL.get("completeCounted"));
        }

        @Override
        public long work() throws SQLException {
            long units = 0;
            for (int group = first; group < handled.length(); group += step) {
                units += work(group);
            }
            if (units == 0) {
                LockSupport.parkNanos(NAP);
            }
            return units;
        }

        private long work(int group) throws SQLException {
            List<Long> fetched = fetch(group);
            if (!fetched.isEmpty()) {
                acknowledge.setString(1, group(group));
                acknowledge.setArray(2, connection.createArrayOf("int8", fetched.toArray()));
                Tally.require("acknowledged at once", fetched.size(), acknowledge.executeUpdate());
                complete.setArray(1, connection.createArrayOf("int8", fetched.toArray()));
                Tally.require("counted at once", fetched.size(), complete.executeUpdate());
            }
            connection.commit();
            handled.addAndGet(group, fetched.size());
            return fetched.size();
        }

        private List<Long> fetch(int group) throws SQLException {
            fetch.setString(1, Installation.TOPIC);
            fetch.setString(2, group(group));
            List<Long> fetched = new ArrayList<>(BATCH);
            try (ResultSet row = fetches.executeQuery(fetch)) {
                while (row.next()) {
                    if (!row.getString(2).isEmpty() && row.getBytes(3).length > 0) {
                        fetched.add(row.getLong(1));
                    }
                }
            }
            return fetched;
        }
    }
}
