package dev.trunkline.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.LogMessage;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Checker;
import dev.trunkline.checker.Event;
import dev.trunkline.checker.Journal;
import dev.trunkline.checker.Limits;
import dev.trunkline.testing.WholeLog.Entry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** What must hold of a topic once a {@link Load} has stopped, whatever happened meanwhile. */
public final class Verdict {

    private Verdict() {}

    /** Relays what is left, then holds the log against the journals of its publishers, the business table and the reader. */
    public static void on(Trunkline trunkline, DataSource source, String topic, Path journals, String about)
            throws SQLException {
        List<Event> business = new ArrayList<>();
        for (String value : Sql.run(source, "select value from business")) {
            business.add(new Event.Business(System.nanoTime(), topic, value));
        }
        check(trunkline, source, topic, journals, business, about);
    }

    /** As {@link #on}, where no business is done. */
    public static void onLog(Trunkline trunkline, DataSource source, String topic, Path journals, String about)
            throws SQLException {
        check(trunkline, source, topic, journals, List.of(), about);
    }

    private static void check(
            Trunkline trunkline, DataSource source, String topic, Path journals, List<Event> business, String about)
            throws SQLException {
        WholeLog.drain(trunkline, source);
        List<Entry> log = WholeLog.of(source, topic);
        Map<Integer, Long> firsts = WholeLog.firsts(trunkline, topic);
        assertThat(log.stream().map(entry -> entry.partition() + "/" + entry.offset()))
                .as("what lies where, " + about)
                .doesNotHaveDuplicates();
        assertThat(log.stream().filter(entry -> entry.offset() < firsts.get(entry.partition())))
                .as("what lies before the first offset, " + about)
                .isEmpty();
        List<Event> published = events(journals);
        write(journals, topic, log, firsts, business);
        dev.trunkline.checker.Verdict verdict = verdict(journals);
        String summary = about + ": " + verdict.figures() + ", " + log.size() + " in the log";
        assertThat(verdict.told()).as(summary).isEmpty();
        assertThat(Units.violations(published, log)).as(summary).isEmpty();
        List<Entry> read = Logs.all(trunkline, topic).stream().map(Entry::of).toList();
        assertThat(read.size()).as("how much a reader sees, " + summary).isEqualTo(log.size());
        assertThat(without(new LinkedHashSet<>(read), new LinkedHashSet<>(log)))
                .as("what only a reader sees, " + summary)
                .isEmpty();
        assertThat(misplaced(source, topic))
                .as("keys outside of their partition, " + summary)
                .isEmpty();
    }

    private static dev.trunkline.checker.Verdict verdict(Path journals) {
        try {
            return Checker.check(journals, Limits.standard());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(
            Path journals, String topic, List<Entry> log, Map<Integer, Long> firsts, List<Event> business) {
        long now = System.nanoTime();
        List<Event> end = new ArrayList<>(business);
        firsts.forEach((partition, offset) -> end.add(new Event.First(now, topic, partition, offset)));
        log.forEach(entry ->
                end.add(new Event.Logged(now, topic, entry.partition(), entry.offset(), entry.key(), entry.value())));
        end.add(new Event.Listed(now));
        try (Journal journal = Journal.create(journals, "verdict")) {
            journal.write(end);
        }
    }

    /** These were seen in the log and may be dropped from now on: then they must not come back. */
    public static void saw(Journal journal, List<LogMessage> messages) {
        journal.write(messages.stream()
                .map(message -> new Event.Read(
                        System.nanoTime(),
                        "reader",
                        message.topic(),
                        message.partition(),
                        message.offset(),
                        message.text()))
                .toList());
    }

    /** All that the journals of a directory tell. */
    public static List<Event> events(Path journals) {
        List<Event> events = new ArrayList<>();
        try (Stream<Path> files = Files.list(journals)) {
            for (Path file : files.toList()) {
                Files.readAllLines(file).forEach(line -> events.add(Event.parse(line)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return events;
    }

    private static <T> Set<T> without(Set<T> some, Set<T> others) {
        Set<T> rest = new LinkedHashSet<>(some);
        rest.removeAll(others);
        return rest;
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
