package dev.trunkline.server.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of callers. A key is 256 random bits, of which only a hash is kept. */
public final class ApiKeys implements Guard {

    private static final String PREFIX = "tl_";
    private static final int BYTES = 32;
    private static final Pattern FORM = Pattern.compile(PREFIX + "[A-Za-z0-9_-]{43}");
    private static final Duration TRUST = Duration.ofSeconds(1);
    private static final int MOST_KNOWN = 10_000;

    private final Source source;
    private final String schema;
    private final SecureRandom random = new SecureRandom();
    /** By the hash of its key. */
    private final Map<String, Known> known = new ConcurrentHashMap<>();
    /** Who is not known may be anybody, any number of times: the database is asked for one of them at a time. */
    private final Semaphore stranger = new Semaphore(1);

    /** Somebody whose key was good, and when that was asked for last; by one request at a time. */
    private static final class Known {
        private final ReentrantLock asking = new ReentrantLock();
        private volatile Caller caller;
        private volatile long since;

        private Known(Caller caller, long since) {
            this.caller = caller;
            this.since = since;
        }

        private boolean isFresh() {
            return System.nanoTime() - since < TRUST.toNanos();
        }
    }

    /** Where connections come from. */
    @FunctionalInterface
    public interface Source {
        Connection getConnection() throws SQLException;
    }

    public ApiKeys(Source source, String schema) {
        this.source = source;
        this.schema = schema;
    }

    /**
     * A key, as it can be seen afterwards.
     *
     * @param revokedAt since when it is not good any more
     */
    public record ApiKey(
            int id,
            String name,
            Set<Verb> verbs,
            String topics,
            String groups,
            Instant createdAt,
            @Nullable Instant expiresAt,
            @Nullable Instant revokedAt) {}

    /** A new key: what it is called by is known now and never again. */
    public record CreatedKey(int id, String key) {}

    /** A key for everything, if there is none at all: somebody must be able to give others. Of servers that start together, one gives it. */
    Optional<CreatedKey> createFirst() throws SQLException {
        String key = random();
        try (Connection connection = source.getConnection();
                PreparedStatement call =
                        connection.prepareStatement("select " + schema + ".create_first_api_key(?, ?)")) {
            call.setString(1, "first");
            call.setBytes(2, hash(key));
            try (ResultSet row = call.executeQuery()) {
                row.next();
                int id = row.getInt(1);
                return row.wasNull() ? Optional.empty() : Optional.of(new CreatedKey(id, key));
            }
        }
    }

    private String random() {
        byte[] secret = new byte[BYTES];
        random.nextBytes(secret);
        return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    }

    public CreatedKey create(String name, Set<Verb> verbs, String topics, String groups, @Nullable Instant expiresAt)
            throws SQLException {
        String key = random();
        try (Connection connection = source.getConnection();
                PreparedStatement call =
                        connection.prepareStatement("select " + schema + ".create_api_key(?, ?, ?, ?, ?, ?)")) {
            call.setString(1, name);
            call.setBytes(2, hash(key));
            call.setArray(
                    3,
                    connection.createArrayOf(
                            "text", verbs.stream().map(Verb::name).toArray()));
            call.setString(4, topics);
            call.setString(5, groups);
            call.setObject(6, expiresAt == null ? null : expiresAt.atOffset(ZoneOffset.UTC));
            try (ResultSet row = call.executeQuery()) {
                row.next();
                return new CreatedKey(row.getInt(1), key);
            }
        }
    }

    /** Who a key belongs to, if it is good. That is asked once a second: so soon a key is revoked everywhere. */
    @Override
    public Optional<Caller> find(String key) throws SQLException {
        if (!FORM.matcher(key).matches()) {
            return Optional.empty();
        }
        byte[] hash = hash(key);
        String name = HexFormat.of().formatHex(hash);
        Known lately = known.get(name);
        return lately == null ? meet(name, hash) : askAgain(lately, name, hash);
    }

    private Optional<Caller> meet(String name, byte[] hash) throws SQLException {
        try {
            if (!stranger.tryAcquire(TRUST.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new Problem(429, "too many who are not known ask at once: try again");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Problem(503, "the server stops");
        }
        try {
            long since = System.nanoTime();
            Optional<Caller> found = ask(hash);
            if (known.size() >= MOST_KNOWN) {
                known.clear();
            }
            found.ifPresent(caller -> known.put(name, new Known(caller, since)));
            return found;
        } finally {
            stranger.release();
        }
    }

    private Optional<Caller> askAgain(Known lately, String name, byte[] hash) throws SQLException {
        if (lately.isFresh()) {
            return Optional.of(lately.caller);
        }
        lately.asking.lock();
        try {
            if (!lately.isFresh()) {
                long since = System.nanoTime();
                Optional<Caller> found = ask(hash);
                if (found.isEmpty()) {
                    known.remove(name);
                    return found;
                }
                lately.caller = found.get();
                lately.since = since;
            }
            return Optional.of(lately.caller);
        } finally {
            lately.asking.unlock();
        }
    }

    private Optional<Caller> ask(byte[] hash) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement call = connection.prepareStatement(
                        "select id, name, verbs, topics, groups from " + schema + ".find_api_key(?)")) {
            call.setBytes(1, hash);
            try (ResultSet row = call.executeQuery()) {
                return row.next()
                        ? Optional.of(new Caller(
                                "key " + row.getInt(1) + " (" + row.getString(2) + ")",
                                verbs(row.getArray(3)),
                                row.getString(4),
                                row.getString(5)))
                        : Optional.empty();
            }
        }
    }

    public List<ApiKey> list() throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement call = connection.prepareStatement(
                        "select id, name, verbs, topics, groups, created_at, expires_at, revoked_at from " + schema
                                + ".list_api_keys()");
                ResultSet row = call.executeQuery()) {
            List<ApiKey> keys = new ArrayList<>();
            while (row.next()) {
                keys.add(new ApiKey(
                        row.getInt(1),
                        row.getString(2),
                        verbs(row.getArray(3)),
                        row.getString(4),
                        row.getString(5),
                        row.getObject(6, OffsetDateTime.class).toInstant(),
                        instant(row, 7),
                        instant(row, 8)));
            }
            return keys;
        }
    }

    public boolean revoke(int id) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement call = connection.prepareStatement("select " + schema + ".revoke_api_key(?)")) {
            call.setInt(1, id);
            try (ResultSet row = call.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        } finally {
            known.clear();
        }
    }

    private static @Nullable Instant instant(ResultSet row, int column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    private static Set<Verb> verbs(Array array) throws SQLException {
        Set<Verb> verbs = new LinkedHashSet<>();
        for (String verb : (String[]) array.getArray()) {
            verbs.add(Verb.valueOf(verb));
        }
        return verbs;
    }

    /** Of so many random bits, a plain hash can not be turned around. */
    static byte[] hash(String key) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
