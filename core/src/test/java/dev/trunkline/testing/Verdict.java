package dev.trunkline.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Trunkline;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.sql.DataSource;

/** What must hold of a topic once a {@link Load} has stopped, whatever happened meanwhile. */
public final class Verdict {

    private Verdict() {}

    /** Relays what is left, then holds the log against the history, the business table and the reader. */
    public static void on(Trunkline trunkline, DataSource source, String topic, History history, String about)
            throws SQLException {
        List<History.Entry> log = onLog(trunkline, source, topic, history, about);
        Set<String> business = new TreeSet<>(Sql.run(source, "select value from business"));
        Set<String> messages = new TreeSet<>(Load.underTransaction(log));
        assertThat(without(business, messages))
                .as("business without a message, %s: %s", about, history)
                .isEmpty();
        assertThat(without(messages, business))
                .as("messages without business, %s: %s", about, history)
                .isEmpty();
    }

    private static <T> Set<T> without(Set<T> some, Set<T> others) {
        Set<T> rest = new LinkedHashSet<>(some);
        rest.removeAll(others);
        return rest;
    }

    /** As {@link #on}, where no business is done. Returns the log. */
    public static List<History.Entry> onLog(
            Trunkline trunkline, DataSource source, String topic, History history, String about) throws SQLException {
        WholeLog.drain(trunkline, source);
        List<History.Entry> log = WholeLog.of(source, topic);
        String summary = about + ": " + history + ", " + log.size() + " in the log";
        assertThat(history.violations(log, WholeLog.firsts(trunkline, topic)))
                .as(summary)
                .isEmpty();
        List<History.Entry> read =
                Logs.all(trunkline, topic).stream().map(History.Entry::of).toList();
        assertThat(read.size()).as("how much a reader sees, " + summary).isEqualTo(log.size());
        assertThat(without(new LinkedHashSet<>(read), new LinkedHashSet<>(log)))
                .as("what only a reader sees, " + summary)
                .isEmpty();
        assertThat(misplaced(source, topic))
                .as("keys outside of their partition, " + summary)
                .isEmpty();
        return log;
    }

    private static List<String> misplaced(DataSource source, String topic) throws SQLException {
        return Sql.run(
                source,
                "select m.key, m.partition, m.\"offset\" from trunkline.messages m"
                        + " join trunkline.topics t on t.name = m.topic"
                        + " where m.topic = ? and m.key is not null and m.partition <> trunkline.partition_of(m.key, t.partitions)",
                topic);
    }
}
