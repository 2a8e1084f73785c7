package dev.trunkline.log;

import dev.trunkline.LogMessage;
import dev.trunkline.Priority;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Takes messages out of a frame, the row of a segment: see {@code trunkline.segment_shape}. A row has its columns in the order in which they are read here. */
public final class FrameReader {

    private static final int NAME_AND_VALUE = 2;

    private FrameReader() {}

    /** Adds the messages of the row's frame whose offsets are from the one up to before the other. */
    public static void addMessages(
            String topic,
            int partition,
            Priority priority,
            ResultSet row,
            long from,
            long to,
            List<LogMessage> messages)
            throws SQLException {
        long lastOffset = row.getLong(2);
        Instant appendedAt = row.getObject(3, OffsetDateTime.class).toInstant();
        boolean unitOpen = row.getBoolean(4);
        Long[] ids = (Long[]) row.getArray(5).getArray();
        @Nullable Object[] units = array(row.getArray(6));
        @Nullable Object[] waits = array(row.getArray(7));
        Integer[] lengths = (Integer[]) row.getArray(8).getArray();
        @Nullable Object[] keys = array(row.getArray(9));
        @Nullable Object[] correlationIds = array(row.getArray(10));
        String[] contentTypes = (String[]) row.getArray(11).getArray();
        @Nullable Object[] headers = array(row.getArray(12));
        byte[] payloads = row.getBytes(13);
        long baseId = row.getLong(14);

        long firstOffset = lastOffset - ids.length + 1;
        int end = 0;
        for (int i = 0; i < ids.length; i++) {
            int start = end;
            end += lengths[i];
            long offset = firstOffset + i;
            if (offset < from || offset >= to) {
                continue;
            }
            Object unit = at(units, i);
            Object wait = at(waits, i);
            messages.add(new LogMessage(
                    topic,
                    partition,
                    priority,
                    offset,
                    baseId + ids[i],
                    baseId + (unit == null ? ids[i] : (Long) unit),
                    i == ids.length - 1 ? !unitOpen : unit == null || !unit.equals(units[i + 1]),
                    (String) at(keys, i),
                    headers((String) at(headers, i)),
                    contentTypes[contentTypes.length == 1 ? 0 : i],
                    (String) at(correlationIds, i),
                    wait == null ? appendedAt : appendedAt.minus((Long) wait, ChronoUnit.MICROS),
                    appendedAt,
                    ids.length == 1 ? payloads : Arrays.copyOfRange(payloads, start, end)));
        }
    }

    /** Names and values out of an array literal. */
    static Map<String, String> headers(@Nullable String literal) {
        if (literal == null) {
            return Map.of();
        }
        List<String> texts = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        boolean quoted = false;
        for (int i = 1; i < literal.length(); i++) {
            char c = literal.charAt(i);
            if (c == '\\' && i + 1 < literal.length()) {
                text.append(literal.charAt(++i));
            } else if (c == '"') {
                quoted = !quoted;
            } else if (!quoted && (c == ',' || c == '}')) {
                texts.add(text.toString());
                text.setLength(0);
            } else {
                text.append(c);
            }
        }
        Map<String, String> headers = new LinkedHashMap<>();
        for (int i = 0; i + 1 < texts.size(); i += NAME_AND_VALUE) {
            headers.put(texts.get(i), texts.get(i + 1));
        }
        return headers;
    }

    private static @Nullable Object[] array(@Nullable Array array) throws SQLException {
        return array == null ? new Object[0] : (Object[]) array.getArray();
    }

    private static @Nullable Object at(@Nullable Object[] values, int i) {
        return values.length == 0 ? null : values[i];
    }
}
