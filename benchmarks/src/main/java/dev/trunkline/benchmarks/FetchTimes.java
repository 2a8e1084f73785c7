package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;

/**
 * How long statements took: as the server says, which tells its clients if it is asked to, and as it looked from here, where whoever waits
 * for an answer also waits for a processor.
 */
final class FetchTimes {

    private static final String NOT_PERMITTED = "42501";
    private static final Pattern DURATION = Pattern.compile("^duration: ([0-9.]+) ms");
    private static final Sql SQL = new Sql("");

    private final Histogram atServer = Pace.latencies();
    private final Histogram atClient = Pace.latencies();
    private final boolean mayAsk;

    FetchTimes(Address address) throws SQLException {
        this.mayAsk = mayAsk(address);
    }

    private static boolean mayAsk(Address address) throws SQLException {
        try (Connection connection = address.connect()) {
            Query.execute(connection, SQL.get("tellDurations"));
            return true;
        } catch (SQLException e) {
            if (NOT_PERMITTED.equals(e.getSQLState())) {
                return false;
            }
            throw e;
        }
    }

    /** Executes a statement, and records how long that took. */
    ResultSet executeQuery(PreparedStatement statement) throws SQLException {
        if (!mayAsk) {
            return execute(statement);
        }
        Connection connection = statement.getConnection();
        Query.execute(connection, SQL.get("tellDurations"));
        try {
            return execute(statement);
        } finally {
            Query.execute(connection, SQL.get("keepDurations"));
        }
    }

    private ResultSet execute(PreparedStatement statement) throws SQLException {
        long began = System.nanoTime();
        ResultSet rows = statement.executeQuery();
        Pace.record(atClient, began);
        if (mayAsk) {
            atServer.recordValue(microsAtServer(statement));
        }
        return rows;
    }

    /** Parse, bind and execute are told one by one. */
    private static long microsAtServer(PreparedStatement statement) throws SQLException {
        double millis = 0;
        for (SQLWarning notice = statement.getWarnings(); notice != null; notice = notice.getNextWarning()) {
            Matcher duration = DURATION.matcher(String.valueOf(notice.getMessage()));
            millis += duration.find() ? Double.parseDouble(duration.group(1)) : 0;
        }
        if (millis == 0) {
            throw new IllegalStateException("the server was asked for the duration of a statement and did not tell");
        }
        return Math.round(millis * 1e3);
    }

    void reset() {
        atServer.reset();
        atClient.reset();
    }

    long count() {
        return atClient.getTotalCount();
    }

    /** The 95th percentile as the server says, or as it looked from here if the server may not be asked. */
    double p95() {
        return mayAsk ? Pace.millis(atServer, 95) : p95AtClient();
    }

    double p95AtClient() {
        return Pace.millis(atClient, 95);
    }
}
