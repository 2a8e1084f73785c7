package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;

/** Tellers who have as much to do in every second, whatever else goes on, and how long their transactions took. */
final class Oltp implements AutoCloseable {

    static final Pace PACE = new Pace(8, 300);

    private static final Pace QUESTIONS = new Pace(1, 50);
    private static final Sql SQL = new Sql("");

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

    /** Works through all windows. A transaction that fails ends it all. */
    CompletableFuture<Void> start(Windows windows) {
        return CompletableFuture.runAsync(
                () -> PACE.keep(windows.began(), windows.length(), due -> {
                    work();
                    windows.record(due);
                    return 1;
                }),
                task -> Thread.ofPlatform().name("oltp").start(task));
    }

    /** Asks small questions through all windows, one at a time, and takes what each answer took: what a pace goes by. */
    CompletableFuture<Void> ask(Windows windows) {
        return CompletableFuture.runAsync(
                () -> {
                    try (Connection connection = address.connect();
                            PreparedStatement question = connection.prepareStatement(SQL.get("readAccount"))) {
                        question.setInt(1, 1);
                        QUESTIONS.keep(windows.began(), windows.length(), due -> {
                            long asked = System.nanoTime();
                            question.executeQuery().close();
                            windows.record(due, System.nanoTime() - asked);
                            return 1;
                        });
                    } catch (SQLException e) {
                        throw new CompletionException(e);
                    }
                },
                task -> Thread.ofPlatform().name("questions").start(task));
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
            return Query.number(connection, SQL.get("countChanges")) == committed.get()
                    && Query.number(connection, SQL.get("difference")) == 0;
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
            Query.number(connection, SQL.get("balance"));
            connection.commit();
            return done;
        }

        @Override
        public void close() throws SQLException {
            teller.close();
        }
    }
}
