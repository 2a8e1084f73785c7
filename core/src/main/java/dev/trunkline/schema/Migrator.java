package dev.trunkline.schema;

import dev.trunkline.IncompatibleDatabaseException;
import dev.trunkline.database.Database;
import dev.trunkline.database.Statements;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings the schema up to date, and prints how for people who do it themselves. */
public final class Migrator {

    /** In the order of their numbers. A released file is never edited: a change is a new file. */
    private static final List<String> FILES = List.of(
            "001_catalogue.sql",
            "002_outbox.sql",
            "003_relay.sql",
            "004_segments.sql",
            "005_publish.sql",
            "006_topics.sql",
            "007_upkeep.sql",
            "008_reading.sql",
            "009_groups.sql",
            "010_letters.sql",
            "011_grants.sql",
            "012_pull.sql",
            "013_await.sql",
            "014_life.sql",
            "015_admin.sql",
            "016_wildcards.sql",
            "017_catch_up.sql",
            "018_tracking.sql",
            "019_server.sql",
            "020_sql_api.sql",
            "021_verify.sql",
            "022_metrics.sql");

    private static final int OLDEST_POSTGRESQL = 15;
    private static final Pattern SCHEMA_NAME = Pattern.compile("[a-z_][a-z0-9_]{0,47}");
    private static final Logger log = LoggerFactory.getLogger(Migrator.class);

    private final Database database;
    private final Statements statements;

    public Migrator(Database database) {
        this.database = database;
        this.statements = Statements.beside(Migrator.class, "migrator.sql", database.schema());
    }

    /**
     * The name, if it can be one.
     *
     * @throws IllegalArgumentException if it is not a plain identifier that leaves room for the names of roles
     */
    public static String checkedSchema(String schema) {
        if (!SCHEMA_NAME.matcher(schema).matches() || schema.startsWith("pg_")) {
            throw new IllegalArgumentException("\"" + schema
                    + "\" can not name the schema: use 1 to 48 of a-z, 0-9 and _, not starting with a digit or pg_");
        }
        return schema;
    }

    /** Applies what is missing, once however many processes start at the same time, and adopts a restored database. */
    public void migrate() {
        database.read(this::requirePostgres);
        if (database.read(this::version) < FILES.size()) {
            database.transact(connection -> {
                lock(connection);
                apply(connection, version(connection));
                return FILES.size();
            });
        }
        requireCurrent();
        adopt();
    }

    /** For databases that somebody else migrates. */
    public void verify() {
        database.read(this::requirePostgres);
        requireCurrent();
        adopt();
    }

    /** The version that {@link #migrate} brings a schema to. */
    public static int newest() {
        return FILES.size();
    }

    /** Everything that {@link #migrate} would run on a new database. */
    public static String script(String schema) {
        checkedSchema(schema);
        StringBuilder script = new StringBuilder("begin;\n\n").append(resource("roles.sql", schema));
        for (int version = 1; version <= FILES.size(); version++) {
            String file = FILES.get(version - 1);
            script.append("\n-- ").append(file).append("\n\n").append(resource(file, schema));
            script.append("\ninsert into ")
                    .append(schema)
                    .append(".migration (version, name) values (")
                    .append(version)
                    .append(", '")
                    .append(file)
                    .append("');\n");
        }
        return script.append("\n")
                .append(resource("grants.sql", schema))
                .append("\ncommit;\n")
                .toString();
    }

    private static String resource(String file, String schema) {
        return Statements.script(Migrator.class, file, schema);
    }

    private boolean requirePostgres(Connection connection) throws SQLException {
        DatabaseMetaData about = connection.getMetaData();
        if (!about.getDatabaseProductName().equals("PostgreSQL")
                || about.getDatabaseMajorVersion() < OLDEST_POSTGRESQL) {
            throw new IncompatibleDatabaseException(
                    "this is " + about.getDatabaseProductName() + " " + about.getDatabaseProductVersion()
                            + ": Trunkline needs PostgreSQL " + OLDEST_POSTGRESQL + " or newer");
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(statements.get("server"))) {
            row.next();
            if (!row.getString("encoding").equals("UTF8")) {
                throw new IncompatibleDatabaseException("this database is encoded in " + row.getString("encoding")
                        + ": Trunkline needs one created with encoding 'UTF8'");
            }
            if (row.getBoolean("standby")) {
                throw new IncompatibleDatabaseException(
                        "this server is a standby: connect to the primary (targetServerType=primary)");
            }
        }
        return true;
    }

    private void lock(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.get("lock"))) {
            statement.setString(1, "trunkline migration " + database.schema());
            statement.execute();
        }
    }

    /** The newest version applied, 0 on a new database. */
    private int version(Connection connection) throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(statements.get("exists"))) {
            exists.setString(1, database.schema());
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                if (!row.getBoolean(1)) {
                    return 0;
                }
            }
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(statements.get("version"))) {
            row.next();
            return row.getInt(1);
        }
    }

    private void apply(Connection connection, int from) throws SQLException {
        if (from >= FILES.size()) {
            return;
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute(resource("roles.sql", database.schema()));
            for (int version = from + 1; version <= FILES.size(); version++) {
                statement.execute(resource(FILES.get(version - 1), database.schema()));
                record(connection, version);
            }
            statement.execute(resource("grants.sql", database.schema()));
        }
        log.info("schema {} is now at version {} (was {})", database.schema(), FILES.size(), from);
    }

    private void record(Connection connection, int version) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.get("record"))) {
            statement.setInt(1, version);
            statement.setString(2, FILES.get(version - 1));
            statement.executeUpdate();
        }
    }

    private void requireCurrent() {
        int version = database.read(this::version);
        if (version > FILES.size()) {
            throw new IncompatibleDatabaseException("schema " + database.schema() + " is at version " + version
                    + ", newer than the " + FILES.size() + " that this library knows: upgrade the library");
        }
        if (version < FILES.size()) {
            throw new IncompatibleDatabaseException(
                    "schema " + database.schema() + " is at version " + version + ", this library needs " + FILES.size()
                            + ": run `trunkline migrate`, open it with migrate(true), or apply what `trunkline schema` prints");
        }
    }

    private void adopt() {
        boolean adopted = database.call(connection -> {
            try (Statement statement = connection.createStatement()) {
                try (ResultSet row = statement.executeQuery(statements.get("isAdopted"))) {
                    row.next();
                    if (row.getBoolean(1)) {
                        return false;
                    }
                }
                try (ResultSet row = statement.executeQuery(statements.get("adopt"))) {
                    row.next();
                    return row.getBoolean(1);
                }
            }
        });
        if (adopted) {
            log.info(
                    "schema {} was restored from another database: adopted, and its outbox relayed", database.schema());
        }
    }
}
