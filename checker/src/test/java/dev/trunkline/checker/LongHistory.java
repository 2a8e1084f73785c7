package dev.trunkline.checker;

import dev.trunkline.checker.Event.Outcome;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A history of any length, as of a busy system to which bad things are done: groups of which one has effects, in turn one member for each epoch. Every
 * now and then what is done is recorded; more seldom all members are killed, and what they had not recorded comes again.
 */
final class LongHistory {

    static final List<String> GROUPS = List.of("a", "b", "c");
    static final int UNRECORDED = 100;
    static final int FAULTS_EVERY = 5_000;

    private static final String TRANSACTIONAL = "a";
    private static final int PARTITIONS = 16;
    private static final int KEYS = 1_000;
    /** How much of the log is kept behind. */
    private static final int KEPT = 50;

    private static final long STEP = 100_000;

    private record Message(long time, int partition, long offset, String key, String value) {}

    private final Journal publisher;
    private final Journal consumer;
    private final long[] ends = new long[PARTITIONS];
    private final List<Message> unrecorded = new ArrayList<>();
    private List<Event> published = new ArrayList<>();
    private List<Event> consumed = new ArrayList<>();
    private long epoch = 1;
    private long faults;

    private LongHistory(Journal publisher, Journal consumer) {
        this.publisher = publisher;
        this.consumer = consumer;
    }

    /** Writes it, and returns how many faults there are in it. */
    static long write(Path directory, int messages) {
        try (Journal publisher = Journal.create(directory, "publisher");
                Journal consumer = Journal.create(directory, "consumer")) {
            return new LongHistory(publisher, consumer).write(messages);
        }
    }

    private long write(int messages) {
        for (int i = 0; i < messages; i++) {
            Message message = publish(i);
            unrecorded.add(message);
            handle(message, message.time + 20);
            if (i % FAULTS_EVERY == FAULTS_EVERY - UNRECORDED / 2) {
                kill(message.time + 50);
            }
            if (unrecorded.size() == UNRECORDED || i == messages - 1) {
                record(message.time + 90);
                flush();
            }
        }
        long end = STEP * messages;
        published.add(new Event.Stopped(end));
        published.add(new Event.Listed(end));
        flush();
        return faults;
    }

    private Message publish(int number) {
        long time = STEP * number;
        int partition = number % KEYS % PARTITIONS;
        Message message = new Message(time, partition, ends[partition]++, "key-" + number % KEYS, "value-" + number);
        String call = "p" + number;
        published.add(new Event.Publish(time, call, "t", message.key, message.value, Event.Way.PUBLISH));
        published.add(new Event.End(time + 10, call, Outcome.OK));
        published.add(new Event.Read(time + 15, "reader", "t", partition, message.offset, message.value));
        if (message.offset >= KEPT) {
            published.add(new Event.Logged(Long.MAX_VALUE, "t", partition, message.offset, message.key, message.value));
        }
        return message;
    }

    private void handle(Message message, long time) {
        for (String group : GROUPS) {
            String call = "h" + consumed.size() + "@" + time;
            consumed.add(new Event.Start(
                    time,
                    call,
                    group,
                    "m" + epoch,
                    epoch,
                    "t",
                    message.partition,
                    message.offset,
                    message.key,
                    message.value));
            consumed.add(new Event.End(time + 1, call, Outcome.OK));
        }
    }

    private void kill(long time) {
        faults++;
        consumed.add(new Event.Fault(time, "fault-" + faults, "kill", "m" + epoch));
        consumed.add(new Event.End(time + 1, "fault-" + faults, Outcome.OK));
        epoch++;
        long now = time + 2;
        for (Message message : unrecorded) {
            handle(message, now);
            now += 2;
        }
    }

    private void record(long time) {
        for (Message message : unrecorded) {
            consumed.add(new Event.Effect(
                    time, TRANSACTIONAL, "t", message.partition, message.offset, epoch, message.value));
        }
        unrecorded.clear();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            for (String group : GROUPS) {
                consumed.add(new Event.Cursor(time, group, "t", partition, ends[partition]));
            }
            consumed.add(new Event.First(time, "t", partition, Math.min(KEPT, ends[partition])));
        }
    }

    private void flush() {
        publisher.write(published);
        consumer.write(consumed);
        published = new ArrayList<>();
        consumed = new ArrayList<>();
    }
}
