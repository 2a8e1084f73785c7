package dev.trunkline.faults;

import dev.trunkline.Trunkline;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where a database is. Child processes are told by their environment, which others on the machine can not read.
 *
 * @param directUrl what leads there past a pooler, for those that listen; null for those that do not
 * @param lease of a process that opens it
 */
record Address(
        String url, String user, String password, @Nullable String directUrl, Duration lease) {

    /** The lease of most processes of trials: short, so that much happens. */
    static final Duration LEASE = Duration.ofSeconds(4);

    private static final String URL = "TRUNKLINE_URL";
    private static final String DIRECT_URL = "TRUNKLINE_DIRECT_URL";
    private static final String LEASE_TIME = "TRUNKLINE_LEASE";
    private static final String USER = "TRUNKLINE_USER";
    private static final String PASSWORD = "TRUNKLINE_PASSWORD";

    Address(String url, String user, String password) {
        this(url, user, password, null, LEASE);
    }

    /** The same, reached by another URL. */
    Address by(String otherUrl) {
        return new Address(otherUrl, user, password, directUrl, lease);
    }

    Address withDirect(String otherUrl) {
        return new Address(url, user, password, otherUrl, lease);
    }

    /** The same with a lease that a process keeps even on a machine that is very busy. */
    Address patient() {
        return new Address(url, user, password, directUrl, Duration.ofSeconds(15));
    }

    Map<String, String> environment() {
        Map<String, String> environment =
                new HashMap<>(Map.of(URL, url, USER, user, PASSWORD, password, LEASE_TIME, lease.toString()));
        if (directUrl != null) {
            environment.put(DIRECT_URL, directUrl);
        }
        return environment;
    }

    static Address ofEnvironment() {
        Map<String, String> environment = System.getenv();
        return new Address(
                Objects.requireNonNull(environment.get(URL), URL),
                Objects.requireNonNull(environment.get(USER), USER),
                Objects.requireNonNull(environment.get(PASSWORD), PASSWORD),
                environment.get(DIRECT_URL),
                Duration.parse(Objects.requireNonNull(environment.get(LEASE_TIME), LEASE_TIME)));
    }

    Trunkline open() {
        Trunkline.Builder builder =
                Trunkline.builder().url(url, user, password).lease(lease).codec(new Value.ValueCodec());
        return (directUrl == null ? builder : builder.directUrl(directUrl)).open();
    }

    /** A connection that gives up on a server that does not answer. */
    Connection connect() throws SQLException {
        String more = (url.contains("?") ? "&" : "?") + "connectTimeout=5&socketTimeout=20&prepareThreshold=0";
        return DriverManager.getConnection(url + more, user, password);
    }
}
