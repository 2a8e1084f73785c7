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
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The keys of callers. A key is 256 random bits, of which only a hash is kept. */
public final class ApiKeys implements Guard {

    private static final String PREFIX = "tl_";
    private static final int BYTES = 32;
    private static final Pattern FORM = Pattern.compile(PREFIX + "[A-Za-z0-9_-]{43}");
    private static final Duration TRUST = Duration.ofSeconds(1);
    /** Longer than whoever asks the database needs to find out that it does not answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final int MOST_KNOWN = 10_000;
    private static final int MOST_UNKNOWN = 1_000;

    private final Source source;
    private final String schema;
    private final LongSupplier nanos;
    private final SecureRandom random = new SecureRandom();
    /** By the hash of its key. */
    private final Map<String, Known> known = new ConcurrentHashMap<>();
    /** Who is not known may be anybody, any number of times: the database is asked for one of them at a time. */
    private final Semaphore stranger = new Semaphore(1, true);
    /** Hashes that nobody has a key of, and since when: such a caller asks again and again. */
    private final Map<String, Long> unknown = new ConcurrentHashMap<>();
    /** When the database did not answer last; the next to ask finds out whether it does again. */
    private volatile @Nullable Failure failure;

    private record Failure(long since, SQLException why) {}

    /** Somebody whose key was good, and when that was asked for last; by one request at a time. */
    private static final class Known {
        private final ReentrantLock asking = new ReentrantLock();
        private final int id;
        private volatile Caller caller;
        private volatile long since;

        private Known(Found found, long since) {
            this.id = found.id;
            this.caller = found.caller;
            this.since = since;
        }
    }

    private record Found(int id, Caller caller) {}

    /** Where connections come from. */
    @FunctionalInterface
    public interface Source {
        Connection getConnection() throws SQLException;
    }

    public ApiKeys(Source source, String schema) {
        this(source, schema, System::nanoTime);
    }

    ApiKeys(Source source, String schema, LongSupplier nanos) {
        this.source = source;
        this.schema = schema;
        this.nanos = nanos;
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

    public CreatedKey create(String name, Set<Verb> verbs, String topics, String groups, @Nullable Duration expiresIn)
            throws SQLException {
        String key = random();
        try (Connection connection = source.getConnection();
                PreparedStatement call = connection.prepareStatement(
                        "select " + schema + ".create_api_key(?, ?, ?, ?, ?, ?::interval)")) {
            call.setString(1, name);
            call.setBytes(2, hash(key));
            call.setArray(
                    3,
                    connection.createArrayOf(
                            "text", verbs.stream().map(Verb::name).toArray()));
            call.setString(4, topics);
            call.setString(5, groups);
            call.setString(6, expiresIn == null ? null : expiresIn.toString());
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
        if (lately != null) {
            return askAgain(lately, name, hash);
        }
        Long since = unknown.get(name);
        return since != null && isLately(since) ? Optional.empty() : meet(name, hash);
    }

    private boolean isLately(long since) {
        return nanos.getAsLong() - since < TRUST.toNanos();
    }

    private Optional<Caller> meet(String name, byte[] hash) throws SQLException {
        requireAnswering();
        try {
            if (!stranger.tryAcquire(TRUST.toMillis(), TimeUnit.MILLISECONDS)) {
                requireAnswering();
                throw new Problem(429, "too many who are not known ask at once: try again");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Problem(503, "the server stops");
        }
        try {
            Known met = known.get(name);
            if (met != null) {
                return Optional.of(met.caller);
            }
            long since = nanos.getAsLong();
            Optional<Found> found = ask(hash);
            if (found.isPresent()) {
                makeRoom(known, MOST_KNOWN);
                known.put(name, new Known(found.get(), since));
            } else {
                makeRoom(unknown, MOST_UNKNOWN);
                unknown.put(name, since);
            }
            return found.map(Found::caller);
        } finally {
            stranger.release();
        }
    }

    private static void makeRoom(Map<String, ?> map, int most) {
        if (map.size() >= most) {
            map.clear();
        }
    }

    /**
     * While one asks for somebody, others who are he wait for the answer, which may be slow. It is good for them if it would have been when
     * they came: else each would ask after the other.
     */
    private Optional<Caller> askAgain(Known lately, String name, byte[] hash) throws SQLException {
        if (isLately(lately.since)) {
            return Optional.of(lately.caller);
        }
        requireAnswering();
        long came = nanos.getAsLong();
        boolean first;
        try {
            first = lately.asking.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Problem(503, "the server stops");
        }
        if (!first) {
            throw new Problem(503, "the database does not answer: try again");
        }
        try {
            if (came - lately.since >= TRUST.toNanos()) {
                long since = nanos.getAsLong();
                Optional<Found> found = ask(hash);
                if (found.isEmpty()) {
                    known.remove(name);
                    return Optional.empty();
                }
                lately.caller = found.get().caller;
                lately.since = since;
            }
            return Optional.of(lately.caller);
        } finally {
            lately.asking.unlock();
        }
    }

    /** Whoever asks while the database is known not to answer is told so, and does not try it himself. */
    private void requireAnswering() throws SQLException {
        Failure last = failure;
        if (last != null && isLately(last.since)) {
            throw last.why;
        }
    }

    private Optional<Found> ask(byte[] hash) throws SQLException {
        requireAnswering();
        try (Connection connection = source.getConnection();
                PreparedStatement call = connection.prepareStatement(
                        "select id, name, verbs, topics, groups from " + schema + ".find_api_key(?)")) {
            call.setBytes(1, hash);
            try (ResultSet row = call.executeQuery()) {
                return row.next()
                        ? Optional.of(new Found(
                                row.getInt(1),
                                new Caller(
                                        "key " + row.getInt(1) + " (" + row.getString(2) + ")",
                                        verbs(row.getArray(3)),
                                        row.getString(4),
                                        row.getString(5))))
                        : Optional.empty();
            }
        } catch (SQLException e) {
            failure = new Failure(nanos.getAsLong(), e);
            throw e;
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
            known.values().removeIf(its -> its.id == id);
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
