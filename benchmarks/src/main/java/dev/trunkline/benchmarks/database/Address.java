package dev.trunkline.benchmarks.database;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.Properties;

/** Where the database is. Both sides of every contest connect here, with the driver's default settings. */
public record Address(String url, String user, String password) {

    private static final String URL = "TRUNKLINE_BENCH_URL";
    private static final String USER = "TRUNKLINE_BENCH_USER";
    private static final String PASSWORD = "TRUNKLINE_BENCH_PASSWORD";

    public Connection connect() throws SQLException {
        return connect(new Properties());
    }

    /** With the one setting that makes a JDBC batch a multi-row insert. */
    public Connection connectRewriting() throws SQLException {
        Properties rewriting = new Properties();
        rewriting.setProperty("reWriteBatchedInserts", "true");
        return connect(rewriting);
    }

    /** With the one setting that makes results binary at once, and not only once a statement has run five times. */
    public Connection connectBinary() throws SQLException {
        Properties binary = new Properties();
        binary.setProperty("prepareThreshold", "-1");
        return connect(binary);
    }

    private Connection connect(Properties properties) throws SQLException {
        properties.setProperty("user", user);
        properties.setProperty("password", password);
        return DriverManager.getConnection(url, properties);
    }

    /** Tells a child where it is, but not on its command line, which others can see. */
    public void putInto(Map<String, String> environment) {
        environment.put(URL, url);
        environment.put(USER, user);
        environment.put(PASSWORD, password);
    }

    /** As the parent has told. */
    public static Address fromEnvironment() {
        return new Address(System.getenv(URL), System.getenv(USER), System.getenv(PASSWORD));
    }

    @Override
    public String toString() {
        return url + " as " + user;
    }
}
