package dev.trunkline.consume;

import dev.trunkline.consume.GroupTable.Entry;
import dev.trunkline.database.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Records what the groups of this process have done, all in one statement: five times a second while there is much, once a second
 * while there is little, and at once for a group that may begin nothing more before. After a fault, what was not yet recorded comes again.
 */
final class Recorder implements AutoCloseable {

    private static final Duration PAUSE = Duration.ofMillis(200);
    private static final long LONGEST = TimeUnit.SECONDS.toNanos(1);
    private static final int MUCH = 500;

    private final GroupTable table;
    private final Session session;
    private final List<Consumption> groups = new CopyOnWriteArrayList<>();
    /** They want what they have done to be recorded, and to go on then. */
    private final Set<Consumption> waiting = ConcurrentHashMap.newKeySet();

    private final ReentrantLock recording = new ReentrantLock();
    private final Loop loop;
    private long unrecorded;
    private long last = System.nanoTime();

    Recorder(GroupTable table, Session session) {
        this.table = table;
        this.session = session;
        this.loop = new Loop("trunkline-recorder", this::step);
    }

    Recorder start() {
        loop.start();
        return this;
    }

    void add(Consumption group) {
        groups.add(group);
    }

    void remove(Consumption group) {
        groups.remove(group);
    }

    /** Whether no handler of any group runs. */
    boolean isQuiet() {
        return groups.stream().allMatch(Consumption::isQuiet);
    }

    void wakeGroups() {
        groups.forEach(Consumption::look);
    }

    private Duration step() {
        for (Consumption group : groups) {
            unrecorded += group.takeUnrecorded();
        }
        List<Consumption> hurried = List.copyOf(waiting);
        if (unrecorded >= MUCH || !hurried.isEmpty() || System.nanoTime() - last > LONGEST) {
            recordNow();
            hurried.forEach(waiting::remove);
            hurried.forEach(Consumption::look);
            unrecorded = 0;
            last = System.nanoTime();
        }
        return PAUSE;
    }

    void hurry(Consumption group) {
        if (waiting.add(group)) {
            loop.wake();
        }
    }

    /** Records everything that is done and was not recorded. One at a time, so that an older state never follows a newer. */
    void recordNow() {
        recording.lock();
        try {
            List<Entry> entries = new ArrayList<>();
            groups.forEach(group -> group.addChanged(entries));
            if (entries.isEmpty()) {
                return;
            }
            try {
                List<Entry> refused = table.record(session.id(), entries);
                refused.forEach(entry -> entry.owned().lose());
            } catch (RuntimeException e) {
                groups.forEach(group -> group.recordAgain(entries));
                throw e;
            }
        } finally {
            recording.unlock();
        }
    }

    @Override
    public void close() {
        loop.close();
    }
}
