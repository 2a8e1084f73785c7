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
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The keys of callers. A key is 256 random bits, of which only a hash is kept. */
final class Keys {

    private static final String PREFIX = "tl_";
    private static final int BYTES = 32;

    private final DataSource source;
    private final String schema;
    private final SecureRandom random = new SecureRandom();

    Keys(DataSource source, String schema) {
        this.source = source;
        this.schema = schema;
    }

    /**
     * A key, as it can be seen afterwards.
     *
     * @param revokedAt since when it is not good any more
     */
    record Key(
            int id,
            String name,
            Set<Verb> verbs,
            String topics,
            String groups,
            Instant createdAt,
            @Nullable Instant expiresAt,
            @Nullable Instant revokedAt) {}

    /** A new key: what it is called by is known now and never again. */
    record Created(int id, String key) {}

    Created create(String name, Set<Verb> verbs, String topics, String groups, @Nullable Instant expiresAt)
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
                return new Created(row.getInt(1), key);
            }
        }
    }

    /** Who a key belongs to, if it is good. */
    Optional<Caller> find(String key) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement call = connection.prepareStatement(
                        "select id, name, verbs, topics, groups from " + schema + ".find_api_key(?)")) {
            call.setBytes(1, hash(key));
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

    List<Key> list() throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement call = connection.prepareStatement(
                        "select id, name, verbs, topics, groups, created_at, expires_at, revoked_at from " + schema
                                + ".list_api_keys()");
                ResultSet row = call.executeQuery()) {
            List<Key> keys = new ArrayList<>();
            while (row.next()) {
                keys.add(new Key(
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

    boolean revoke(int id) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement call = connection.prepareStatement("select " + schema + ".revoke_api_key(?)")) {
            call.setInt(1, id);
            try (ResultSet row = call.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
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
