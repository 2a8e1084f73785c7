package dev.trunkline.checker;

import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.History.Fault;
import dev.trunkline.checker.History.Handling;
import dev.trunkline.checker.History.Partition;
import dev.trunkline.checker.History.Place;
import dev.trunkline.checker.History.Publication;
import dev.trunkline.checker.History.Reading;
import dev.trunkline.checker.History.Stake;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads journals. A call ends in the journal in which it began. */
final class Reader {

    /** What waits for the end of its call. */
    @FunctionalInterface
    private interface Pending {
        void end(long time, Outcome outcome);
    }

    private final History history = new History();
    private final Map<String, String> words = new HashMap<>();
    private final Map<Partition, Partition> partitions = new HashMap<>();
    private final Map<Stake, Stake> stakes = new HashMap<>();
    private Map<String, List<Pending>> open = new HashMap<>();
    private Map<String, List<String>> together = new HashMap<>();
    private String lastCall = "";
    private long lastCallNumber;

    private Reader() {}

    static List<Path> journals(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(Journal.SUFFIX))
                    .sorted()
                    .toList();
        }
    }

    static History read(Path directory) throws IOException {
        List<Path> files = journals(directory);
        if (files.isEmpty()) {
            throw new IOException(
                    "there is nothing to check: no file in " + directory + " ends with " + Journal.SUFFIX);
        }
        Reader reader = new Reader();
        for (Path file : files) {
            reader.open = new HashMap<>();
            reader.together = new HashMap<>();
            forEach(file, reader::take);
            reader.history.unknown.addAll(reader.together.values());
        }
        if (reader.history.publications.isEmpty()) {
            throw new IOException(
                    "there is nothing to check: by the journals in " + directory + " nothing was published");
        }
        reader.history.sort();
        return reader.history;
    }

    /** All events of a journal, but not a last line that its writer did not live to end. */
    static void forEach(Path file, Consumer<Event> action) throws IOException {
        boolean whole = endsWithNewline(file);
        try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            String line = lines.readLine();
            for (long number = 1; line != null; number++) {
                String next = lines.readLine();
                if (next != null || whole) {
                    action.accept(parse(file, number, line));
                }
                line = next;
            }
        }
    }

    private static Event parse(Path file, long number, String line) throws IOException {
        try {
            return Event.parse(line);
        } catch (IllegalArgumentException e) {
            throw new IOException(file.getFileName() + ", line " + number + ": " + e.getMessage(), e);
        }
    }

    private static boolean endsWithNewline(Path file) throws IOException {
        try (SeekableByteChannel content = Files.newByteChannel(file)) {
            if (content.size() == 0) {
                return true;
            }
            content.position(content.size() - 1);
            ByteBuffer last = ByteBuffer.allocate(1);
            content.read(last);
            return last.get(0) == '\n';
        }
    }

    private void take(Event event) {
        history.events.merge(event.getClass(), 1L, Long::sum);
        switch (event) {
            case Event.Publish e -> {
                Publication publication = history.publications.computeIfAbsent(
                        word(e.value()), value -> new Publication(word(e.topic()), wordOrNull(e.key()), e.way()));
                publication.begin(e.time());
                wait(e.call(), publication::end);
                together.computeIfAbsent(e.call(), call -> new ArrayList<>(1)).add(word(e.value()));
            }
            case Event.Start e -> {
                Stake stake = stake(e.group(), e.topic(), e.partition());
                Place place = see(e.topic(), e.partition(), e.offset(), e.key(), e.value(), true);
                Handling handling = new Handling(number(e.call()), e.time(), word(e.member()), e.epoch(), place);
                history.handlings.computeIfAbsent(stake, s -> new ArrayList<>()).add(handling);
                wait(e.call(), handling::end);
            }
            case Event.End e -> {
                List<Pending> its = open.remove(e.call());
                if (its != null) {
                    its.forEach(each -> each.end(e.time(), e.outcome()));
                }
                List<String> values = together.remove(e.call());
                if (values != null && e.outcome() == Outcome.UNKNOWN) {
                    history.unknown.add(values);
                }
            }
            case Event.Fault e -> {
                Fault fault = new Fault(e.time(), wordOrNull(e.victim()));
                history.faults.add(fault);
                wait(e.call(), (time, outcome) -> fault.ended = time);
            }
            case Event.Read e -> {
                Place place = see(e.topic(), e.partition(), e.offset(), null, e.value(), false);
                history.readings
                        .computeIfAbsent(
                                new Reading(word(e.reader()), partition(e.topic(), e.partition())),
                                r -> new ArrayList<>())
                        .add(place);
            }
            case Event.Logged e -> {
                see(e.topic(), e.partition(), e.offset(), e.key(), e.value(), true);
                history.logged
                        .computeIfAbsent(partition(e.topic(), e.partition()), p -> new HashSet<>())
                        .add(e.offset());
            }
            case Event.Cursor e ->
                history.cursors
                        .computeIfAbsent(stake(e.group(), e.topic(), e.partition()), s -> new ArrayList<>())
                        .add(withWords(e));
            case Event.Effect e -> {
                history.transactional.computeIfAbsent(word(e.group()), group -> new HashSet<>());
                history.effects
                        .computeIfAbsent(stake(e.group(), e.topic(), e.partition()), s -> new ArrayList<>())
                        .add(withWords(e));
            }
            case Event.Accepted e ->
                history.accepted
                        .computeIfAbsent(stake(e.group(), e.topic(), e.partition()), s -> new ArrayList<>())
                        .add(withWords(e));
            case Event.Transactional e ->
                history.transactional
                        .computeIfAbsent(word(e.group()), group -> new HashSet<>())
                        .add(word(e.topic()));
            case Event.Listed e -> history.isListed = true;
            case Event.First e ->
                history.firsts
                        .computeIfAbsent(partition(e.topic(), e.partition()), p -> new ArrayList<>())
                        .add(e);
            case Event.From e ->
                history.terms(stake(e.group(), e.topic(), e.partition())).from(e.offset(), e.time());
            case Event.Gap e ->
                history.terms(stake(e.group(), e.topic(), e.partition())).gap(e.from(), e.to(), e.since());
            case Event.Letter e ->
                history.terms(stake(e.group(), e.topic(), e.partition())).letter(e.offset(), e.since());
            case Event.Left e ->
                history.left
                        .computeIfAbsent(e.group(), group -> new ArrayList<>())
                        .add(e.topic());
            case Event.Business e -> history.business.add(word(e.value()));
            case Event.Stopped e -> history.stopped = e.time();
        }
    }

    private void wait(String call, Pending pending) {
        open.computeIfAbsent(call, c -> new ArrayList<>(1)).add(pending);
    }

    private long number(String call) {
        if (!call.equals(lastCall)) {
            lastCall = call;
            lastCallNumber++;
        }
        return lastCallNumber;
    }

    private Place see(
            String topic, int partition, long offset, @Nullable String key, String value, boolean keyIsKnown) {
        return history.saw(partition(topic, partition), new Place(offset, wordOrNull(key), word(value), keyIsKnown));
    }

    private Partition partition(String topic, int number) {
        Partition partition = new Partition(word(topic), number);
        Partition known = partitions.putIfAbsent(partition, partition);
        return known == null ? partition : known;
    }

    private Stake stake(String group, String topic, int number) {
        Stake stake = new Stake(word(group), partition(topic, number));
        Stake known = stakes.putIfAbsent(stake, stake);
        return known == null ? stake : known;
    }

    private Event.Cursor withWords(Event.Cursor e) {
        return new Event.Cursor(e.time(), word(e.group()), word(e.topic()), e.partition(), e.offset(), e.reads());
    }

    private Event.Effect withWords(Event.Effect e) {
        return new Event.Effect(
                e.time(), word(e.group()), word(e.topic()), e.partition(), e.offset(), e.epoch(), word(e.value()));
    }

    private Event.Accepted withWords(Event.Accepted e) {
        return new Event.Accepted(e.time(), word(e.group()), word(e.topic()), e.partition(), e.epoch());
    }

    private @Nullable String wordOrNull(@Nullable String text) {
        return text == null ? null : word(text);
    }

    /** The same word, once. */
    private String word(String text) {
        String known = words.putIfAbsent(text, text);
        return known == null ? text : known;
    }
}
