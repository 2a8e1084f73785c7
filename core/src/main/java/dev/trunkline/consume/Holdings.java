package dev.trunkline.consume;

import dev.trunkline.GroupStatus;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TrunklineException;
import dev.trunkline.consume.GroupTable.Entry;
import dev.trunkline.consume.GroupTable.Subscription;
import dev.trunkline.consume.GroupTable.View;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The partitions that this process owns for a group: how they are taken, handed over and lost, and the record of what was done in them. */
final class Holdings {

    private static final Logger log = LoggerFactory.getLogger(Holdings.class);

    private final Subject subject;
    private final String group;
    private final String topic;
    private final Subscription subscription;
    private final SubscriptionOptions options;
    private final GroupTable table;
    private final LogEnd logEnd;
    private final Session session;
    private final Recorder recorder;
    private final Dispatcher dispatcher;
    private final Runs runs;
    private final Parking parking;
    private final Solitude solitude;
    private final Set<Holdings> leaving;
    private final Monitor monitor;
    /** By partition; the dispatcher's lock guards it. */
    private final Map<Integer, Owned> owned = new TreeMap<>();
    /** What was lost, as long as the database has not said where its log ends: the connection may have gone with the old server. */
    private final List<Owned> untold = new ArrayList<>();
    /** The session that the partitions belong to. */
    private volatile long joined;
    /** A take-over has failed, and what it did is not known. */
    private boolean unsure;
    /** This process takes no part in the group any more; after that it may, by another start. */
    private boolean left;

    Holdings(
            Subject subject,
            Subscription subscription,
            SubscriptionOptions options,
            Groups.Parts parts,
            Dispatcher dispatcher,
            Runs runs,
            Parking parking,
            Monitor monitor) {
        this.subject = subject;
        this.group = subject.group();
        this.topic = subject.topic();
        this.subscription = subscription;
        this.options = options;
        this.table = parts.table();
        this.logEnd = new LogEnd(subject, table, monitor);
        this.session = parts.session();
        this.recorder = parts.recorder();
        this.solitude = parts.solitude();
        this.leaving = parts.leaving();
        this.dispatcher = dispatcher;
        this.runs = runs;
        this.parking = parking;
        this.monitor = monitor;
    }

    /** Under the dispatcher's lock. */
    Collection<Owned> all() {
        return owned.values();
    }

    long session() {
        return joined;
    }

    /** Whether messages of a partition may be handled now. */
    boolean isLive(Owned partition) {
        // A session that was ended has a successor at once, which owns nothing of what it had.
        return !partition.isStopped() && session.pulse().isAlive(joined, System.nanoTime());
    }

    /** Looks at the group, takes or gives up what is its share or not, and returns what was seen. */
    View tick() {
        long me = session.id();
        if (joined != me) {
            dispatcher.locked(() -> owned.values().forEach(Owned::lose));
            handOver();
            joined = me; // also if the answer to what follows is lost: it can be left, and joined again
            table.join(subscription.id(), me);
        }
        List<Owned> lingering = lingering();
        View view = table.view(subscription.id(), me);
        if (!view.isMember() && view.status() != GroupStatus.CANCELLED) {
            table.join(subscription.id(), me);
        }
        int mine = view.mine() - lingering.size();
        switch (Shares.step(view.status(), mine, owned.size(), kept().size(), unsure)) {
            case STOP -> stopAll();
            case COMPARE -> compare(me, lingering);
            case MOVE -> {
                unsure = true;
                move(view);
                unsure = false;
                if (view.intents()) {
                    parking.carryOut(me, kept());
                }
                parking.catchUp(kept());
                parking.warn(kept());
            }
        }
        return view;
    }

    /**
     * Drops what is not its own: somebody has moved the group, or it fell behind retention. And lets go of what it does not know: the answer to a
     * take-over was lost, or what it took could not be read. But not of what a former start of the group still has.
     */
    private void compare(long me, List<Owned> lingering) {
        Map<Integer, Long> epochs = table.owned(subscription.id(), me);
        dispatcher.locked(() -> Stream.concat(owned.values().stream(), lingering.stream())
                .filter(partition -> !Long.valueOf(partition.epoch()).equals(epochs.get(partition.partition())))
                .forEach(Owned::lose));
        epochs.keySet().removeAll(owned.keySet());
        lingering.forEach(partition -> epochs.remove(partition.partition(), partition.epoch()));
        if (!epochs.isEmpty()) {
            table.release(subscription.id(), me, epochs, epochs.keySet());
        }
        unsure = false;
    }

    /** What a former start of the group in this process holds in the same session: its last handlers still run. */
    private List<Owned> lingering() {
        return leaving.stream()
                .filter(other -> other.subscription.id() == subscription.id() && other.joined == joined)
                .flatMap(other -> other.remaining().stream())
                .toList();
    }

    private List<Owned> remaining() {
        return dispatcher.locked(() ->
                owned.values().stream().filter(partition -> !partition.isLost()).toList());
    }

    private void move(View view) {
        Shares.Move move = options.partitions().isEmpty()
                ? Shares.decide(view.partitions(), view.mine(), view.others())
                : new Shares.Move(options.partitions().size() - view.mine(), false);
        if (move.take() > 0) {
            take(view, move.take());
        } else if (move.give()) {
            give(view);
        }
    }

    private void take(View view, int most) {
        // What is not found to be readable is given back at the next tick, since nobody knows of it.
        List<Owned> taken =
                logEnd.compare(table.take(subscription, joined, view, most, options.partitions(), options.window()));
        if (taken.isEmpty()) {
            return;
        }
        parking.find(taken);
        dispatcher.locked(() -> taken.forEach(partition -> {
            Owned before = owned.put(partition.partition(), partition);
            if (before != null) {
                before.lose(); // it was moved since this process last looked
                forget(before);
            }
        }));
        taken.forEach(partition -> monitor.tell(listener -> listener.taken(partition.partition(), partition.epoch())));
    }

    private List<Owned> kept() {
        return dispatcher.locked(() -> owned.values().stream()
                .filter(partition -> !partition.isStopped())
                .toList());
    }

    /** Stops a partition, rather one that suits another process, and of these the one with least under way; unless one is being handed over already. */
    private void give(View view) {
        dispatcher.locked(() -> {
            if (owned.values().stream().noneMatch(Owned::isStopped)) {
                owned.values().stream()
                        .min(Comparator.<Owned, Boolean>comparing(partition -> view.suits(partition.partition()))
                                .thenComparingInt(partition -> partition.running))
                        .ifPresent(Owned::stop);
            }
        });
    }

    void stopAll() {
        dispatcher.locked(() -> owned.values().forEach(partition -> {
            partition.stop();
            forget(partition);
        }));
    }

    /** Lets go of partitions that were stopped, once nothing of them runs and what was done is recorded. */
    void handOver() {
        List<Owned> leaving = new ArrayList<>();
        List<Owned> lost = new ArrayList<>();
        dispatcher.locked(() -> {
            for (Iterator<Owned> all = owned.values().iterator(); all.hasNext(); ) {
                Owned partition = all.next();
                if (partition.isStopped()) {
                    forget(partition);
                    if (partition.isLost()) {
                        all.remove();
                        lost.add(partition);
                    } else if (partition.isIdle()) {
                        leaving.add(partition);
                    }
                }
            }
        });
        lost.forEach(partition -> subject.of(log.atWarn(), partition.partition())
                .log("{}: partition {} has another owner now", group, partition.partition()));
        if (!leaving.isEmpty()) {
            release(leaving);
        }
        tellLeft(lost);
        untold.addAll(lost);
        if (!untold.isEmpty()) {
            logEnd.tellWhatIsGone(untold);
            untold.clear();
        }
    }

    /** What was read of it is not handled any more. */
    private void forget(Owned partition) {
        runs.drop(partition);
        if (solitude.releaseIf(run -> run.owned == partition)) {
            recorder.wakeGroups();
        }
    }

    private void release(List<Owned> leaving) {
        recorder.recordNow(); // also waits for a record that is under way
        List<Entry> entries = new ArrayList<>();
        addChanged(entries);
        record(entries);
        if (leaving.isEmpty()) {
            return;
        }
        release(table, leaving);
        dispatcher.locked(() -> leaving.forEach(partition -> {
            forget(partition);
            owned.remove(partition.partition());
        }));
        tellLeft(leaving);
    }

    private void release(GroupTable through, Collection<Owned> partitions) {
        Map<Integer, Long> epochs = new TreeMap<>();
        Set<Integer> orphaned = new HashSet<>();
        dispatcher.locked(() -> partitions.forEach(partition -> {
            epochs.put(partition.partition(), partition.epoch());
            if (isOrphaned(partition) || !partition.isIdle()) {
                orphaned.add(partition.partition());
            }
        }));
        through.release(subscription.id(), joined, epochs, orphaned);
    }

    /**
     * Lets go of everything while the loop of the group stands still, on another thread. What its handlers are at is not recorded, and the
     * process may yet die of it.
     */
    void letGo(GroupTable aside) {
        List<Owned> all = dispatcher.locked(() -> {
            owned.values().forEach(Owned::lose);
            return List.copyOf(owned.values());
        });
        release(aside, all);
        aside.leave(subscription.id(), joined);
    }

    private void tellLeft(List<Owned> partitions) {
        partitions.forEach(partition -> monitor.tell(listener -> listener.left(partition.partition())));
    }

    private static boolean isOrphaned(Owned partition) {
        return partition.strands().stream()
                .anyMatch(strand -> strand.isOrphaned() && (!strand.isWorkedOff() || partition.parked > 0));
    }

    private void record(List<Entry> entries) {
        if (entries.isEmpty()) {
            return;
        }
        try {
            table.record(joined, entries).forEach(entry -> entry.owned().lose());
        } catch (RuntimeException e) {
            recordAgain(entries);
            throw e;
        }
    }

    /** Adds what was done since it was last recorded. */
    void addChanged(List<Entry> entries) {
        dispatcher.locked(() -> {
            for (Owned partition : owned.values()) {
                for (Strand strand : partition.strands()) {
                    if (strand.isChanged() && !partition.isLost()) {
                        entries.add(new Entry(
                                subscription.id(),
                                partition,
                                strand,
                                strand.nextSequence(),
                                strand.top(),
                                strand.takeDone(),
                                strand.takeRejected()));
                    }
                }
            }
        });
    }

    /** These were not recorded, or nobody knows. */
    void recordAgain(List<Entry> entries) {
        dispatcher.locked(() -> entries.stream()
                .filter(entry -> entry.subscription() == subscription.id())
                .forEach(entry -> entry.strand().touch()));
    }

    /** How many messages of each partition are not done. */
    Map<Integer, Long> lag() {
        Long[] ends = table.ends(topic);
        return dispatcher.locked(() -> LogEnd.lag(ends, owned.values()));
    }

    /** From now on another start of the group may follow, which leaves alone what this one has not handed over. */
    void beginToLeave() {
        leaving.add(this);
    }

    void endLeaving() {
        leaving.remove(this);
    }

    /** Hands over all partitions of which nothing runs. Whether nothing is left that is to be handed over. */
    boolean leave() {
        if (session.id() != joined) {
            dispatcher.locked(() -> owned.values().forEach(Owned::lose)); // with its session
            return true;
        }
        try {
            release(dispatcher.locked(() -> owned.values().stream()
                    .filter(partition -> !partition.isLost() && partition.isIdle())
                    .toList()));
            if (!left) {
                table.leave(subscription.id(), joined);
                left = true;
            }
        } catch (TrunklineException e) {
            subject.of(log.atWarn()).log("{}: could not hand over yet: {}", group, e.getMessage());
        }
        return left && remaining().isEmpty();
    }
}
