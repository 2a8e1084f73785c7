package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Design.Trait;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The database under test and how much effort to make. Everything it makes is in schemas {@code trunkline_bench…}. */
final class Workbench {

    private static final String PREFIX = "trunkline_bench_";
    private static final Sql SQL = new Sql(PREFIX);

    private final Address address;
    private final Effort effort;
    private final List<Design> systems;
    private final Consumer<String> progress;

    /** @param systems the peers that are compared, wherever several are */
    Workbench(Address address, Effort effort, List<Design> systems, Consumer<String> progress) {
        this.address = address;
        this.effort = effort;
        this.systems = systems;
        this.progress = progress;
    }

    Address address() {
        return address;
    }

    Effort effort() {
        return effort;
    }

    /** Those of the peers that are compared that are fit for it. */
    List<Design> systems(Predicate<Design> fit) {
        return systems.stream().filter(fit).toList();
    }

    /** Of these, those that lose nothing. */
    List<Design> reliable(Predicate<Design> fit) {
        return systems(fit.and(design -> !design.has(Trait.LOSES_LATE_COMMITS)));
    }

    /** The same with fewer repetitions, for what takes long. */
    Workbench atMost(int repetitions) {
        Effort less = effort.withRepetitions(Math.min(repetitions, effort.repetitions()));
        return new Workbench(address, less, systems, progress);
    }

    /** The same with fewer repetitions, for many systems: one if it is to be quick. */
    Workbench forPeers() {
        return atMost(Math.max(1, effort.repetitions() - 2));
    }

    /** The same with turns of so many seconds. */
    Workbench lasting(double seconds) {
        return new Workbench(address, effort.withSeconds(seconds), systems, progress);
    }

    void progress(String what) {
        progress.accept(what);
    }

    /** Removes what an earlier scenario or run has left, and makes room for the tables of the baselines. */
    void clear() throws SQLException {
        remove();
        try (Connection connection = address.connect()) {
            Query.execute(connection, SQL.get("createRaw"));
        }
    }

    /** Removes everything that was made here. */
    void remove() throws SQLException {
        try (Connection connection = address.connect()) {
            for (String schema : Query.texts(connection, SQL.get("leftovers"))) {
                Query.execute(connection, SQL.get("dropSchema", schema));
            }
            for (String role : Query.texts(connection, SQL.get("leftoverRoles"))) {
                Query.execute(connection, SQL.get("dropRole", role));
            }
        }
    }

    /** What makes this database's commits less than durable, if anything. */
    String weakness() throws SQLException {
        try (Connection connection = address.connect()) {
            return Query.texts(connection, SQL.get("weakness")).getFirst();
        }
    }

    /** The statements for an installation, whether it is open or not. */
    Sql sql(String installation) {
        return new Sql(PREFIX + installation);
    }

    /** A Trunkline of its own. */
    Installation install(String name, boolean backgroundWork) {
        return new Installation(address, PREFIX + name, backgroundWork);
    }

    /** A Trunkline of its own whose reads of the log are timed. */
    Installation install(String name, TimedReads pool) {
        return new Installation(address, PREFIX + name, pool, pool.getMaximumPoolSize());
    }

    /** Removes an installation that is closed. */
    void uninstall(String name) throws SQLException {
        try (Connection connection = address.connect()) {
            Query.execute(connection, SQL.get("dropSchema", PREFIX + name));
        }
    }

    /** Lets every turn begin with nothing left to write, so that no checkpoint falls into somebody's turn by chance. */
    void settle() throws SQLException {
        try (Connection connection = address.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("checkpoint");
        } catch (SQLException e) {
            if (!"42501".equals(e.getSQLState())) {
                throw e;
            }
        }
    }
}
