package dev.trunkline.testing;

import dev.trunkline.LogMessage;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Trunkline;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A topic's whole log straight out of the tables, whatever the library thinks of them. */
public final class WholeLog {

    private WholeLog() {}

    /** A message of the log. */
    public record Entry(
            int partition, long offset, @Nullable String key, String value, long unit, boolean unitEnd) {
        static Entry of(LogMessage message) {
            return new Entry(
                    message.partition(),
                    message.offset(),
                    message.key(),
                    message.text(),
                    message.unit(),
                    message.unitEnd());
        }

        @Override
        public String toString() {
            return value + " at " + partition + "/" + offset;
        }
    }

    public static List<Entry> of(DataSource source, String topic) throws SQLException {
        List<Entry> entries = new ArrayList<>();
        try (Connection connection = source.getConnection()) {
            for (String segment : TestDatabase.query(
                    connection,
                    "select s.id from trunkline.segment s join trunkline.topic t on t.id = s.topic where t.name = ? order by s.id",
                    topic)) {
                try (PreparedStatement statement = connection.prepareStatement("""
                                select f.partition, f.last_offset - cardinality(f.ids) + i, f.keys[i],
                                       convert_from(substring(f.payloads from 1 + coalesce((select sum(l)::int from unnest(f.lengths[:i - 1]) l), 0)
                                           for f.lengths[i]), 'UTF8'),
                                       f.base_id + coalesce(f.units[i], f.ids[i]),
                                       case when i = cardinality(f.ids) then not f.unit_open else f.units[i + 1] is null or f.units[i + 1] <> f.units[i] end
                                from trunkline.segment_%s f, generate_series(1, cardinality(f.ids)) i
                                order by 1, 2
                                """.formatted(segment));
                        ResultSet row = statement.executeQuery()) {
                    while (row.next()) {
                        entries.add(new Entry(
                                row.getInt(1),
                                row.getLong(2),
                                row.getString(3),
                                row.getString(4),
                                row.getLong(5),
                                row.getBoolean(6)));
                    }
                }
            }
        }
        return entries;
    }

    /** The first kept offset of every partition. */
    public static Map<Integer, Long> firsts(Trunkline trunkline, String topic) {
        Map<Integer, Long> firsts = new TreeMap<>();
        for (int partition = 0;
                partition < trunkline.topics().find(topic).orElseThrow().partitions();
                partition++) {
            firsts.put(partition, trunkline.log().first(topic, partition));
        }
        return firsts;
    }

    /** Relays, in the calling thread, until nothing is left in the outbox, nor anything that is due within minutes. A line that was cut before may show only now. */
    public static void drain(Trunkline trunkline, DataSource source) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .ignoreException(OutcomeUnknownException.class)
                .until(() -> {
                    trunkline.relayNow();
                    return Sql.run(
                                    source,
                                    "select topics is null and coalesce(next_due, 'infinity') > 600 from trunkline.pending()")
                            .equals(List.of("t"));
                });
    }
}
