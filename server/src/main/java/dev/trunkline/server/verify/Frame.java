package dev.trunkline.server.verify;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/**
 * Where a frame lies.
 *
 * @param flaw what is wrong with it by itself
 */
record Frame(
        int strand,
        long first,
        long last,
        Instant appendedAt,
        @Nullable String flaw) {

    static Frame of(ResultSet row) throws SQLException {
        return new Frame(
                row.getInt(1),
                row.getLong(2),
                row.getLong(3),
                row.getObject(4, OffsetDateTime.class).toInstant(),
                row.getString(5));
    }
}
