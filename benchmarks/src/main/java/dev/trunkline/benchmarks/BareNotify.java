package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.HdrHistogram.Histogram;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** NOTIFY on one connection, LISTEN on another: the least that it takes to tell another process something. */
final class BareNotify implements AutoCloseable {

    private static final String END = "end";

    private final Connection speaker;
    private final Connection listener;
    private final PreparedStatement notify;

    BareNotify(Address address) throws SQLException {
        Sql sql = new Sql("");
        this.speaker = address.connect();
        this.listener = address.connect();
        this.notify = speaker.prepareStatement(sql.get("notify"));
        Query.execute(listener, sql.get("listen"));
    }

    /** Notifies for so long. Returns how long each took to be heard. */
    Histogram send(Pace pace, double seconds) throws SQLException {
        Histogram latencies = Pace.latencies();
        CompletableFuture<Void> hearing = CompletableFuture.runAsync(
                () -> hear(latencies),
                task -> Thread.ofPlatform().name("listener").daemon().start(task));
        long sent = pace.keep(seconds, due -> say(Long.toString(due)));
        say(END);
        hearing.join();
        Tally.require("heard", sent, latencies.getTotalCount());
        return latencies;
    }

    private long say(String what) throws SQLException {
        notify.setString(1, what);
        notify.execute();
        return 1;
    }

    private void hear(Histogram latencies) {
        try {
            while (true) {
                for (PGNotification heard : listener.unwrap(PGConnection.class).getNotifications(0)) {
                    if (heard.getParameter().equals(END)) {
                        return;
                    }
                    Pace.record(latencies, Long.parseLong(heard.getParameter()));
                }
            }
        } catch (SQLException e) {
            throw new CompletionException(e);
        }
    }

    @Override
    public void close() throws SQLException {
        speaker.close();
        listener.close();
    }
}
