package dev.trunkline.consume;

import dev.trunkline.Codec;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Observer;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicPattern;
import dev.trunkline.WildcardGroup;
import dev.trunkline.database.Database;
import dev.trunkline.database.Loop;
import dev.trunkline.database.Statements;
import dev.trunkline.log.Bell;
import dev.trunkline.log.Doorbell;
import dev.trunkline.log.SegmentedLog;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The consumer groups of this process, and what they share. A session begins with the first group that is started. */
public final class Groups implements AutoCloseable {

    private static final int SPARE_CONNECTIONS = 2;
    /** A loop that fails again and again waits half of that. */
    private static final Duration SHORTEST_STALL = Loop.SLOWEST_RETRY.multipliedBy(2);

    private final Database own;
    private final Codec codec;
    private final SegmentedLog log;
    private final Bell bell;
    private final Doorbell doorbell;
    private final Duration lease;
    private final Observer observer;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Group<?>, Consumption> started = new ConcurrentHashMap<>();
    private final Set<Wildcard<?>> wildcards = ConcurrentHashMap.newKeySet();
    private final Calls calls;
    /** As many handlers may have a connection at once as leave some for everything else. */
    private final Semaphore permits;

    private @Nullable Parts parts;

    /**
     * What the groups of a process share.
     *
     * @param leaving what was closed, and has partitions that are not handed over yet
     */
    record Parts(
            Calls calls,
            GroupTable table,
            Session session,
            Recorder recorder,
            Solitude solitude,
            Set<Holdings> leaving,
            Semaphore permits,
            SegmentedLog log,
            Supplier<Duration> pollInterval) {}

    /**
     * Nothing is read or written before a group is started.
     *
     * @param database for what grows with the work
     * @param own for what must not wait for it
     * @param connections how many the first one has
     */
    public Groups(
            Database database,
            Database own,
            int connections,
            Codec codec,
            SegmentedLog log,
            Bell bell,
            Doorbell doorbell,
            Duration lease,
            Observer observer) {
        this.own = own;
        this.permits = new Semaphore(Math.max(1, connections - SPARE_CONNECTIONS));
        this.codec = codec;
        this.log = log;
        this.bell = bell;
        this.doorbell = doorbell;
        this.lease = lease;
        this.observer = observer;
        this.calls = new Calls(database, Statements.beside(Groups.class, "consume.sql", database.schema()));
    }

    Calls calls() {
        return calls;
    }

    Observer observer() {
        return observer;
    }

    /** What looks after groups, whether they are started here or not. */
    public ConsumerGroupAdmin admin() {
        return new Administration(calls);
    }

    public <T> ConsumerGroup<T> create(String name, String topic, Class<T> type) {
        return new Group<>(name, topic, type, codec, this, false);
    }

    /** A group of all topics that fit a pattern. */
    public <T> WildcardGroup<T> create(
            String name, TopicPattern pattern, Class<T> type, Consumer<ConsumerGroup<T>> consumers) {
        return new Wildcard<>(name, pattern, this, topic -> {
            Group<T> group = new Group<>(name, topic, type, codec, this, true);
            consumers.accept(group);
            return group;
        });
    }

    Consumption consume(Group<?> group, SubscriptionOptions options, Consumers<?> consumers, Monitor monitor) {
        Parts shared = parts();
        if (!options.partitions().isEmpty()) {
            requirePartitions(group.topic(), shared.table().partitions(group.topic()), options.partitions());
        }
        GroupTable.Subscription subscription = group.isFound()
                ? shared.table().rejoin(group.name(), group.topic(), options)
                : shared.table().subscribe(group.name(), group.topic(), options);
        Consumption consumption =
                new Consumption(group.name(), group.topic(), subscription, options, consumers, monitor, shared);
        admit(group, consumption, subscription.id());
        shared.recorder().add(consumption);
        bell.onRing(consumption, group.topic(), consumption::look);
        return consumption.start();
    }

    /** In one go: two that both find nobody there would take each other's partitions away. */
    private void admit(Group<?> group, Consumption consumption, int subscription) {
        lock.lock();
        try {
            if (started.values().stream().anyMatch(other -> other.isOf(subscription))) {
                throw new ConsumerGroupException(group + " is started in this process already, for topic \""
                        + group.topic() + "\": add consumers to that one");
            }
            started.put(group, consumption);
        } finally {
            lock.unlock();
        }
    }

    /** Whether this process consumes a topic for a group. */
    boolean isStarted(String name, String topic) {
        return started.keySet().stream()
                .anyMatch(group -> group.name().equals(name) && group.topic().equals(topic));
    }

    /** What is to be closed before the groups are. */
    void opened(Wildcard<?> wildcard) {
        wildcards.add(wildcard);
    }

    void closed(Wildcard<?> wildcard) {
        wildcards.remove(wildcard);
    }

    private static void requirePartitions(String topic, int partitions, Set<Integer> wanted) {
        for (int partition : wanted) {
            if (partition < 0 || partition >= partitions) {
                throw new ConsumerGroupException(
                        "topic \"" + topic + "\" has partitions 0 to " + (partitions - 1) + ", not " + partition);
            }
        }
    }

    void left(Group<?> group, Consumption consumption) {
        started.remove(group);
        bell.forget(consumption);
        parts().recorder().remove(consumption);
    }

    private Parts parts() {
        lock.lock();
        try {
            Parts now = parts;
            if (now == null) {
                GroupTable table = new GroupTable(calls);
                GroupTable aside = new GroupTable(new Calls(own, calls.statements()));
                Session session = new Session(
                                own, calls.statements(), lease, log::readIn, this::lookAtMembers, new Loops(aside))
                        .start();
                Recorder recorder = new Recorder(aside, session).start();
                now = new Parts(
                        calls,
                        table,
                        session,
                        recorder,
                        new Solitude(),
                        ConcurrentHashMap.newKeySet(),
                        permits,
                        log,
                        doorbell::pollInterval);
                parts = now;
                doorbell.startListening();
            }
            return now;
        } finally {
            lock.unlock();
        }
    }

    /** The loops of groups that are started. One that stands still, in a listener say, holds what others could serve. */
    private final class Loops implements Session.Loops {

        private final GroupTable aside;
        private final Duration longest = lease.compareTo(SHORTEST_STALL) > 0 ? lease : SHORTEST_STALL;

        Loops(GroupTable aside) {
            this.aside = aside;
        }

        @Override
        public Map<Long, Watch.Beat> steps() {
            Map<Long, Watch.Beat> steps = new HashMap<>();
            started.values().stream()
                    .filter(group -> !group.isClosing())
                    .forEach(group -> steps.put((long) group.subscription(), new Watch.Beat(group.steps(), longest)));
            return steps;
        }

        @Override
        public void stalled(long subscription) {
            started.values().stream()
                    .filter(group -> group.isOf((int) subscription))
                    .forEach(group -> group.letGo(aside));
        }
    }

    private void lookAtMembers() {
        started.values().forEach(Consumption::lookAtMembers);
    }

    /** Closes all groups and ends the session. */
    @Override
    public void close() {
        wildcards.forEach(Wildcard::close);
        started.keySet().forEach(Group::close);
        lock.lock();
        try {
            if (parts != null) {
                parts.recorder().close();
                parts.session().close();
                parts = null;
            }
        } finally {
            lock.unlock();
        }
    }
}
