package dev.trunkline.server;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.Trunkline;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.PGConnection;

/**
 * Where an installation is and who opens it.
 *
 * @param url a JDBC URL; a user and a password in it win
 */
public record Address(String url, String user, String password, String schema) {

    private static final String DRIVER = "jdbc:postgresql:";
    /** The password in {@code //user:password@host}. After a port an @ may stand in what follows the question mark. */
    private static final Pattern BEFORE_HOST = Pattern.compile("(//[^:/@\\s]*:)(?!\\d+(?:[,/][^@\\s]*)?\\?)\\S*@");

    private static final Pattern PARAMETER = Pattern.compile("(?i)(password=)[^&\\s]*");
    private static final String UNDEFINED_TABLE = "42P01";
    private static final String UNDEFINED_SCHEMA = "3F000";
    /** In seconds: no statement of a command takes so long, so the line is dead. */
    private static final int LONGEST_SILENCE = 600;

    /** An address with what PostgreSQL itself takes where no user is given. */
    public static Address of(String url, @Nullable String user, @Nullable String password, String schema) {
        return new Address(
                url,
                Objects.requireNonNullElseGet(user, () -> System.getProperty("user.name")),
                Objects.requireNonNullElse(password, ""),
                schema);
    }

    /** A builder for this address, once the database has answered: its refusal is said at once and clearly. */
    public Trunkline.Builder installation() {
        Trunkline.Builder builder = Trunkline.builder().url(url, user, password).schema(schema);
        try {
            connect().close();
        } catch (SQLException e) {
            throw new DatabaseUnavailableException(
                    "can not connect to " + this + ": " + e.getMessage() + " Check --url, --user and --password.", e);
        }
        return builder;
    }

    /** A connection of its own. It leaves nothing behind at the server: a pooler may give that side of it to somebody else after each transaction. */
    public Connection connect() throws SQLException {
        // Not the driver: it says all of what it can not parse, and takes a user and a password there for a host.
        if (!url.startsWith(DRIVER) || BEFORE_HOST.matcher(url).find() || Driver.parseURL(url, null) == null) {
            throw new SQLException("it is not a JDBC URL of PostgreSQL, such as " + DRIVER
                    + "//localhost:5432/shop, with user and password by themselves.");
        }
        Properties properties = new Properties();
        properties.setProperty("user", user);
        properties.setProperty("password", password);
        // What the URL says comes first.
        properties.setProperty("tcpKeepAlive", "true");
        properties.setProperty("socketTimeout", Integer.toString(LONGEST_SILENCE));
        Connection connection = DriverManager.getConnection(url, properties);
        connection.unwrap(PGConnection.class).setPrepareThreshold(0);
        return connection;
    }

    /** The version of the schema; 0: there is none. */
    public int version(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.of(Address.class, "address.sql", "version", schema))) {
            row.next();
            return row.getInt(1);
        } catch (SQLException e) {
            if (List.of(UNDEFINED_TABLE, UNDEFINED_SCHEMA).contains(e.getSQLState())) {
                return 0;
            }
            throw e;
        }
    }

    /** A text without the passwords of URLs in it. */
    public static String masked(String text) {
        String parameters = PARAMETER.matcher(text).replaceAll("$1...");
        return BEFORE_HOST.matcher(parameters).replaceAll("$1...@");
    }

    /** The URL without its password. */
    public String maskedUrl() {
        // The driver takes spaces: in a password they do not end it.
        return masked(url.replace(' ', '+'));
    }

    @Override
    public String toString() {
        return maskedUrl() + " as " + user;
    }
}
