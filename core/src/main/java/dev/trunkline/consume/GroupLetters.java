package dev.trunkline.consume;

import dev.trunkline.DeadLetter;
import dev.trunkline.DeadLetters;
import dev.trunkline.Priority;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@link DeadLetters} of a group. */
record GroupLetters(Calls calls, String group, String topic) implements DeadLetters {

    @Override
    public List<DeadLetter> list(long afterId, int most) {
        if (most < 1) {
            throw new IllegalArgumentException("a page of " + most + " dead letters is empty: use 1 or more");
        }
        return calls.call(
                "deadLetters",
                row -> {
                    List<DeadLetter> found = new ArrayList<>();
                    while (row.next()) {
                        found.add(letter(row));
                    }
                    return found;
                },
                group,
                topic,
                afterId,
                most);
    }

    @Override
    public Optional<DeadLetter> find(long id) {
        return calls.call(
                "deadLetter", row -> row.next() ? Optional.of(letter(row)) : Optional.empty(), group, topic, id);
    }

    @Override
    public void edit(long id, byte[] payload, String contentType, Map<String, String> headers) {
        String[] texts = headers.entrySet().stream()
                .flatMap(header -> Stream.of(header.getKey(), header.getValue()))
                .toArray(String[]::new);
        calls.run("editDeadLetter", group, topic, id, payload, contentType, texts);
    }

    private static DeadLetter letter(ResultSet row) throws SQLException {
        return new DeadLetter(
                row.getLong(1),
                row.getInt(2),
                Priority.of(row.getInt(3)),
                row.getLong(4),
                row.getLong(5),
                row.getString(6),
                LetterTable.headers(row.getArray(7)),
                row.getString(8),
                row.getBytes(9),
                row.getInt(10),
                row.getString(11),
                row.getString(12),
                List.of((String[]) row.getArray(13).getArray()),
                row.getObject(14, OffsetDateTime.class).toInstant(),
                row.getString(15) != null);
    }

    @Override
    public long redrive(Collection<Long> ids) {
        return decide("redrive", ids);
    }

    @Override
    public long redriveAll() {
        return decide("redrive", null);
    }

    @Override
    public long discard(Collection<Long> ids) {
        return decide("discard", ids);
    }

    @Override
    public long discardAll() {
        return decide("discard", null);
    }

    private long decide(String what, @Nullable Collection<Long> ids) {
        return calls.call(
                what,
                row -> {
                    row.next();
                    return row.getLong(1);
                },
                group,
                topic,
                ids == null ? null : ids.toArray(Long[]::new));
    }
}
