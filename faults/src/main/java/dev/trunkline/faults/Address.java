package dev.trunkline.faults;

import dev.trunkline.Trunkline;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/** Where a database is. Child processes are told by their environment, which others on the machine can not read. */
record Address(String url, String user, String password) {

    /** The lease of every process of a trial: short, so that much happens. */
    static final Duration LEASE = Duration.ofSeconds(3);

    private static final String URL = "TRUNKLINE_URL";
    private static final String USER = "TRUNKLINE_USER";
    private static final String PASSWORD = "TRUNKLINE_PASSWORD";

    Map<String, String> environment() {
        return Map.of(URL, url, USER, user, PASSWORD, password);
    }

    static Address ofEnvironment() {
        Map<String, String> environment = System.getenv();
        return new Address(
                Objects.requireNonNull(environment.get(URL), URL),
                Objects.requireNonNull(environment.get(USER), USER),
                Objects.requireNonNull(environment.get(PASSWORD), PASSWORD));
    }

    Trunkline open() {
        return Trunkline.builder()
                .url(url, user, password)
                .lease(LEASE)
                .codec(new Value.ValueCodec())
                .open();
    }

    /** A connection that gives up on a server that does not answer. */
    Connection connect() throws SQLException {
        return DriverManager.getConnection(
                url + "?connectTimeout=5&socketTimeout=20&prepareThreshold=0", user, password);
    }
}
