package dev.trunkline.server.verify;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * What the catalogue says of a segment.
 *
 * @param bases the first offset of each strand in it or after it
 * @param times what each strand had reached when it was opened
 */
record Segment(int id, List<Long> bases, List<Instant> times) {

    static Segment of(ResultSet row) throws SQLException {
        return new Segment(
                row.getInt(1),
                Arrays.stream((Long[]) row.getArray(2).getArray())
                        .filter(Objects::nonNull)
                        .toList(),
                Arrays.stream((Object[]) row.getArray(3).getArray())
                        .filter(Objects::nonNull)
                        .map(Segment::instant)
                        .toList());
    }

    /** An array comes with the driver's own kind of time. */
    private static Instant instant(Object time) {
        return time instanceof OffsetDateTime at ? at.toInstant() : ((java.sql.Timestamp) time).toInstant();
    }

    /** Otherwise the look at the topic has said so. */
    boolean fits(Auditor.Topic topic) {
        return bases.size() == topic.strands() && times.size() == topic.strands();
    }
}
