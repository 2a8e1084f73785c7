package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The segments of a topic as the database sees them, looked at again and again, since they come and go. */
final class SegmentStorage implements AutoCloseable {

    private final Connection connection;
    private final Sql sql;
    private final Set<String> seen = new HashSet<>();
    private long dead;
    private long vacuums;
    private long autovacuums;

    SegmentStorage(Workbench bench, String installation) throws SQLException {
        this.connection = bench.address().connect();
        this.sql = bench.sql(installation);
    }

    /** Looks, and returns the bytes of all segments with their indexes. */
    long look() throws SQLException {
        seen.addAll(segments());
        dead = Math.max(dead, statistic("n_dead_tup"));
        vacuums = Math.max(vacuums, statistic("vacuum_count"));
        autovacuums = Math.max(autovacuums, statistic("autovacuum_count"));
        return Query.number(connection, sql.get("topicBytes"), Installation.TOPIC);
    }

    /** How many of the segments that were seen are gone. */
    int dropped() throws SQLException {
        List<String> present = segments();
        seen.addAll(present);
        return seen.size() - present.size();
    }

    /** Rows that are alive now. */
    long live() throws SQLException {
        return statistic("n_live_tup");
    }

    /** The most dead rows at any look. */
    long dead() {
        return dead;
    }

    long vacuums() {
        return vacuums;
    }

    long autovacuums() {
        return autovacuums;
    }

    private List<String> segments() throws SQLException {
        return Query.texts(connection, sql.get("segments"), Installation.TOPIC);
    }

    private long statistic(String column) throws SQLException {
        return Query.number(connection, sql.get("segmentStatistic", column), Installation.TOPIC);
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
