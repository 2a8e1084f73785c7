package dev.trunkline.consume;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Sessions, members and holders of one group, as the functions of {@code 009_groups.sql} keep them. {@code RegisterTest} compares them. */
final class Register {

    private static final long NOBODY = 0;

    /** @param session 0: nobody */
    record Holder(long session, long epoch) {}

    /** @param taking no two have the same, whatever epochs say: for those who check */
    record Taken(int partition, long epoch, long taking) {}

    /** What was done in a partition, up to an offset. */
    record Entry(int partition, long epoch, long done, long taking) {}

    private final Rules rules;
    private final Map<Long, Watch.Beat> living = new TreeMap<>();
    private final TreeSet<Long> members = new TreeSet<>();
    private final Holder[] holders;
    private final long[] cursors;
    private final long[] takings;
    private long sessions;
    private long count;

    Register(Rules rules, int partitions) {
        this.rules = rules;
        this.holders = new Holder[partitions];
        this.cursors = new long[partitions];
        this.takings = new long[partitions];
        for (int partition = 0; partition < partitions; partition++) {
            holders[partition] = new Holder(NOBODY, 0);
        }
    }

    long begin(Duration lease) {
        living.put(++sessions, new Watch.Beat(0, lease));
        return sessions;
    }

    boolean beat(long session) {
        return living.computeIfPresent(session, (id, beat) -> new Watch.Beat(beat.count() + 1, beat.lease())) != null;
    }

    Map<Long, Watch.Beat> beats(long except) {
        Map<Long, Watch.Beat> beats = new HashMap<>(living);
        beats.remove(except);
        return beats;
    }

    boolean isLiving(long session) {
        return living.containsKey(session);
    }

    /** One that was seen to stand still. */
    boolean end(long session, long seen) {
        Watch.Beat beat = living.get(session);
        return beat != null && beat.count() == seen && end(session);
    }

    boolean end(long session) {
        members.remove(session);
        return living.remove(session) != null;
    }

    void join(long session) {
        members.add(session);
    }

    void leave(long session) {
        members.remove(session);
    }

    /** How many partitions each living member holds. */
    Map<Long, Integer> shares() {
        Map<Long, Integer> shares = new TreeMap<>();
        members.stream()
                .filter(living::containsKey)
                .forEach(session -> shares.put(session, owned(session).size()));
        return shares;
    }

    Map<Integer, Long> owned(long session) {
        Map<Integer, Long> epochs = new TreeMap<>();
        for (int partition = 0; partition < holders.length; partition++) {
            if (holders[partition].session() == session) {
                epochs.put(partition, holders[partition].epoch());
            }
        }
        return epochs;
    }

    List<Taken> take(long session, int most) {
        List<Taken> taken = new ArrayList<>();
        for (int partition = 0; partition < holders.length && taken.size() < most && isLiving(session); partition++) {
            Holder holder = holders[partition];
            if (!isLiving(holder.session())) {
                holders[partition] = new Holder(session, holder.epoch() + 1);
                takings[partition] = ++count;
                taken.add(new Taken(partition, holder.epoch() + 1, count));
            }
        }
        return taken;
    }

    /** Those that it still holds at these epochs. */
    void release(long session, Map<Integer, Long> epochs) {
        epochs.forEach((partition, epoch) -> {
            if (holders[partition].equals(new Holder(session, epoch))) {
                holders[partition] = new Holder(NOBODY, epoch);
            }
        });
    }

    long cursor(int partition) {
        return cursors[partition];
    }

    /** Somebody sets the group back. */
    void seek(int partition, long offset) {
        holders[partition] = new Holder(NOBODY, holders[partition].epoch() + 1);
        takings[partition] = ++count;
        cursors[partition] = Math.min(cursors[partition], offset);
    }

    boolean record(long session, Entry entry) {
        boolean admitted = rules.fence().admits(holders[entry.partition()], session, entry.epoch());
        if (admitted) {
            cursors[entry.partition()] = Math.max(cursors[entry.partition()], entry.done());
        }
        return admitted;
    }

    /** Which take-over of a partition was the last. */
    long taking(int partition) {
        return takings[partition];
    }
}
