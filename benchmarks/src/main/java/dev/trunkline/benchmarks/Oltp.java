package dev.trunkline.benchmarks;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/** Tellers who have as much to do in every second, whatever else goes on, and how long their transactions took. */
final class Oltp implements AutoCloseable {

    static final Pace PACE = new Pace(8, 300);

    private final Address address;
    private final List<Teller> tellers = new ArrayList<>();
    private final BlockingQueue<Teller> free = new ArrayBlockingQueue<>(PACE.threads());
    private final AtomicLong committed = new AtomicLong();

    Oltp(Address address) throws SQLException {
        this.address = address;
        for (int i = 0; i < PACE.threads(); i++) {
            tellers.add(new Teller(address.connect()));
        }
        free.addAll(tellers);
    }

    /** Works from a time on, and takes the latencies of what is due after a lead. A transaction that fails ends it all. */
    CompletableFuture<Histogram> start(long began, double lead, double seconds) {
        Histogram latencies = Pace.latencies();
        long counted = began + (long) (lead * 1e9);
        return CompletableFuture.supplyAsync(
                () -> {
                    PACE.keep(began, lead + seconds, due -> {
                        work();
                        if (due - counted >= 0) {
                            Pace.record(latencies, due);
                        }
                        return 1;
                    });
                    return latencies;
                },
                task -> Thread.ofPlatform().name("oltp").start(task));
    }

    private void work() throws Exception {
        Teller teller = free.take();
        try {
            committed.addAndGet(teller.work());
        } finally {
            free.add(teller);
        }
    }

    /** Tellers in a hurry, more than a machine has cores: each goes through all accounts after each transaction. */
    Crew rush(int size) throws Exception {
        return Crew.of(size, () -> new Rushing(address.connect()));
    }

    /** Whether the books have each transaction once, and agree. */
    boolean isExact() throws SQLException {
        try (Connection connection = address.connect()) {
            Sql sql = new Sql("");
            return Query.number(connection, sql.get("countChanges")) == committed.get()
                    && Query.number(connection, sql.get("difference")) == 0;
        }
    }

    @Override
    public void close() throws SQLException {
        for (Teller teller : tellers) {
            teller.close();
        }
    }

    private final class Rushing implements Crew.Worker {
        private final Connection connection;
        private final Teller teller;

        Rushing(Connection connection) throws SQLException {
            this.connection = connection;
            this.teller = new Teller(connection);
        }

        @Override
        public long work() throws SQLException {
            long done = teller.work();
            committed.addAndGet(done);
            Query.number(connection, new Sql("").get("balance"));
            connection.commit();
            return done;
        }

        @Override
        public void close() throws SQLException {
            teller.close();
        }
    }
}
