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

    private record Known(Caller caller, long since) {}

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

    public CreatedKey create(String name, Set<Verb> verbs, String topics, String groups, @Nullable Instant expiresAt)
            throws SQLException {
        byte[] secret = new byte[BYTES];
        random.nextBytes(secret);
        String key = PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
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
        if (lately != null && System.nanoTime() - lately.since < TRUST.toNanos()) {
            return Optional.of(lately.caller);
        }
        long since = System.nanoTime();
        Optional<Caller> found = ask(hash);
        if (known.size() >= MOST_KNOWN) {
            known.clear();
        }
        found.ifPresentOrElse(caller -> known.put(name, new Known(caller, since)), () -> known.remove(name));
        return found;
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
