package dev.trunkline.consume;

import dev.trunkline.ConsumerGroupException;
import dev.trunkline.GroupMetrics;
import dev.trunkline.LogMessage;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TrunklineException;
import dev.trunkline.consume.GroupTable.Entry;
import dev.trunkline.consume.GroupTable.Subscription;
import dev.trunkline.consume.GroupTable.View;
import dev.trunkline.consume.LetterTable.Mark;
import dev.trunkline.consume.Run.Item;
import dev.trunkline.database.Loop;
import dev.trunkline.log.SegmentedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A started group in this process: a loop that takes and gives partitions, reads ahead of the handlers within the window, and
 * attends to what is to be tried again.
 */
final class Consumption implements Dispatcher.Work {

    private static final Logger log = LoggerFactory.getLogger(Consumption.class);
    private static final int READ_AT_ONCE = 500;
    private static final long MOST_BYTES = 32L * 1024 * 1024;
    private static final long LONELY_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);

    private final String group;
    private final String topic;
    private final Subscription subscription;
    private final SubscriptionOptions options;
    private final Monitor monitor;
    private final GroupTable table;
    private final Session session;
    private final Recorder recorder;
    private final SegmentedLog segments;
    private final Duration pollInterval;
    private final Solitude solitude;
    private final BooleanSupplier processIsQuiet;
    private final Cut cut;
    private final Health health = new Health();
    private final Dispatcher dispatcher;
    private final Deliveries deliveries;
    private final Parking parking;
    private final Suspicion suspicion;
    private final Loop loop;
    /** By partition; the dispatcher's lock guards it. */
    private final Map<Integer, Owned> owned = new TreeMap<>();

    /** The session that the partitions belong to. */
    private volatile long joined;

    private long nextTick = System.nanoTime();
    private long nextPoll = nextTick;
    /** There may be something to read that was not there, or not wanted, before. */
    private volatile boolean hopeful = true;

    private volatile boolean paused;
    private volatile boolean cancelled;
    private boolean ill;

    Consumption(
            String group,
            String topic,
            Subscription subscription,
            SubscriptionOptions options,
            Consumers<?> consumers,
            Monitor monitor,
            Groups.Parts parts) {
        this.group = group;
        this.topic = topic;
        this.subscription = subscription;
        this.options = options;
        this.monitor = monitor;
        this.table = parts.table();
        this.session = parts.session();
        this.recorder = parts.recorder();
        this.segments = parts.log();
        this.pollInterval = parts.pollInterval();
        this.solitude = parts.solitude();
        this.processIsQuiet = recorder::isQuiet;
        LetterTable letters = new LetterTable(parts.calls(), parts.permits(), topic, subscription.id());
        this.cut = new Cut(options.batching(), subscription.ordered());
        this.dispatcher = new Dispatcher(
                this, options.concurrency(), cut, health, new Ready(subscription.partitions(), subscription.levels()));
        this.deliveries =
                new Deliveries(group, options, consumers, letters, cut, health, monitor, this::mark, this::isLive);
        this.parking = new Parking(subscription, letters, dispatcher, this::mark, options.window());
        this.suspicion = new Suspicion(
                letters,
                dispatcher,
                solitude,
                this::mark,
                cut.parks() && options.retry().exhausted() == RetryPolicy.Exhausted.PARK_KEY);
        this.loop = new Loop("trunkline-group-" + subscription.id(), this::step);
    }

    Consumption start() {
        loop.start();
        return this;
    }

    /** Something was appended somewhere. */
    void look() {
        hopeful = true;
        loop.wake();
    }

    @Override
    public void needed() {
        look();
    }

    private Duration step() {
        boolean ticked = System.nanoTime() - nextTick >= 0;
        if (ticked) {
            tick();
            nextTick = System.nanoTime()
                    + (long) (1e9 * ThreadLocalRandom.current().nextDouble(0.8, 1.2));
        }
        handOver();
        long next = dispatcher.attend(options.handlerTimeout().toNanos());
        giveUpHanging();
        if (!health.isFailing()) {
            parking.park(ticked);
        }
        parking.load(joined);
        if (suspicion.look(joined, processIsQuiet)) {
            next = Math.min(next, LONELY_PAUSE);
        }
        hurry();
        long now = System.nanoTime();
        if (hopeful || now - nextPoll >= 0) {
            hopeful = false;
            nextPoll = now + pollInterval.toNanos();
            if (read() > 0) {
                hopeful = true;
                return Duration.ZERO;
            }
        }
        return Duration.ofNanos(Math.clamp(Math.min(nextTick, nextPoll) - System.nanoTime(), 0, next));
    }

    private void giveUpHanging() {
        long timeout = options.handlerTimeout().toNanos();
        for (Worker worker : dispatcher.hanging(timeout)) {
            worker.abandon(timeout, (run, unit) -> {
                boolean given = deliveries.abandon(run, unit);
                if (given) {
                    dispatcher.abandon(run.owned, unit);
                }
                return given;
            });
        }
    }

    /** Something succeeded again: what waits for a slow retry need not wait. */
    private void hurry() {
        if (health.takeHope() && (ill || health.isFailing())) {
            dispatcher.lock().lock();
            try {
                dispatcher.hurry();
            } finally {
                dispatcher.lock().unlock();
            }
            if (!health.isFailing()) {
                log.info("{}: its handler succeeds again", group);
                hopeful = true;
            }
        }
        if (ill != health.isFailing()) {
            ill = !ill;
            boolean now = ill;
            monitor.tell(listener -> listener.failing(now));
        }
    }

    private void tick() {
        long me = session.id();
        if (joined != me) {
            dispatcher.lock().lock();
            try {
                owned.values().forEach(Owned::lose);
            } finally {
                dispatcher.lock().unlock();
            }
            table.join(subscription.id(), me);
            joined = me;
        }
        View view = table.view(subscription.id(), me);
        hopeful |= paused;
        paused = view.status().equals("PAUSED");
        cancelled = view.status().equals("CANCELLED");
        dispatcher.pause(paused);
        if (cancelled) {
            stopAll();
            return;
        }
        if (view.mine() > owned.size()) {
            // The answer to a take-over was lost, or what it took could not be read.
            table.releaseAllBut(subscription.id(), me, List.copyOf(owned.keySet()));
            return;
        }
        Shares.Move move = options.partitions().isEmpty()
                ? Shares.decide(view.partitions(), view.mine(), view.others())
                : new Shares.Move(options.partitions().size() - view.mine(), false);
        if (move.take() > 0) {
            List<Owned> taken = table.take(subscription, me, move.take(), options.partitions(), options.window());
            haltIfAhead(taken);
            parking.find(taken);
            dispatcher.lock().lock();
            try {
                taken.forEach(partition -> owned.put(partition.partition(), partition));
                hopeful = true;
            } finally {
                dispatcher.lock().unlock();
            }
            taken.forEach(
                    partition -> monitor.tell(listener -> listener.taken(partition.partition(), partition.epoch())));
        } else if (move.give()) {
            give();
        }
        if (view.intents()) {
            parking.carryOut(me, mine());
        }
        parking.catchUp(mine());
        parking.warn(mine());
        warnOfLongUnits();
    }

    /** A group that is further than its log would pass over what is appended there: it must not go on by itself. */
    private void haltIfAhead(List<Owned> taken) {
        if (taken.isEmpty()) {
            return;
        }
        Long[] ends = table.ends(topic);
        for (Owned partition : taken) {
            for (Strand strand : partition.strands()) {
                long end = ends[strand.number()];
                if (strand.cursor() > end) {
                    strand.halt();
                    log.error(
                            "{}: it has done partition {} up to {}, but the log of topic \"{}\" ends at {}: the log has lost its end"
                                    + " (a failover, a restore?). The partition waits until the group is cancelled and started anew",
                            group,
                            partition.partition(),
                            strand.cursor(),
                            topic,
                            end);
                    monitor.tell(listener -> listener.aheadOfLog(partition.partition(), strand.cursor(), end));
                }
            }
        }
    }

    private List<Owned> mine() {
        dispatcher.lock().lock();
        try {
            return owned.values().stream()
                    .filter(partition -> !partition.isStopped())
                    .toList();
        } finally {
            dispatcher.lock().unlock();
        }
    }

    private void warnOfLongUnits() {
        dispatcher.lock().lock();
        try {
            for (Owned partition : owned.values()) {
                for (Strand strand : partition.strands()) {
                    for (Run run : strand.runs.values()) {
                        if (cut.isTooLong(run.waiting)) {
                            log.error(
                                    "{}: the unit of work that begins with {} is longer than {} messages: its partition waits."
                                            + " Allow longer ones, with Batching.withLimit",
                                    group,
                                    run.waiting.getFirst().message,
                                    options.batching().limit());
                        }
                    }
                }
            }
        } finally {
            dispatcher.lock().unlock();
        }
    }

    /** Stops the partition that has least under way, unless one is being handed over already. */
    private void give() {
        dispatcher.lock().lock();
        try {
            if (owned.values().stream().noneMatch(Owned::isStopped)) {
                owned.values().stream()
                        .min(Comparator.comparingInt(partition -> partition.running))
                        .ifPresent(Owned::stop);
            }
        } finally {
            dispatcher.lock().unlock();
        }
    }

    private void stopAll() {
        dispatcher.lock().lock();
        try {
            owned.values().forEach(Owned::stop);
        } finally {
            dispatcher.lock().unlock();
        }
    }

    /** Lets go of partitions that were stopped, once nothing of them runs and what was done is recorded. */
    private void handOver() {
        List<Owned> leaving = new ArrayList<>();
        dispatcher.lock().lock();
        try {
            for (Iterator<Owned> all = owned.values().iterator(); all.hasNext(); ) {
                Owned partition = all.next();
                if (partition.isStopped()) {
                    dispatcher.drop(partition);
                    solitude.release(partition);
                    if (partition.isLost()) {
                        log.warn("{}: partition {} has another owner now", group, partition.partition());
                        all.remove();
                        monitor.tell(listener -> listener.left(partition.partition()));
                    } else if (partition.running == 0) {
                        leaving.add(partition);
                    }
                }
            }
        } finally {
            dispatcher.lock().unlock();
        }
        if (leaving.isEmpty()) {
            return;
        }
        recorder.recordNow();
        table.release(
                subscription.id(),
                joined,
                leaving.stream().map(Owned::partition).toList());
        dispatcher.lock().lock();
        try {
            leaving.forEach(partition -> owned.remove(partition.partition()));
        } finally {
            dispatcher.lock().unlock();
        }
        leaving.forEach(partition -> monitor.tell(listener -> listener.left(partition.partition())));
    }

    /** Reads what there is room for and returns how many messages that were. */
    private int read() {
        List<Strand> strands = new ArrayList<>();
        List<Owned> owners = new ArrayList<>();
        int[] numbers;
        long[] positions;
        dispatcher.lock().lock();
        try {
            if (paused || cancelled || health.isFailing() || (dispatcher.bytes() > MOST_BYTES && !anyWantsMore())) {
                dispatcher.wantRoom();
                return 0;
            }
            for (Owned partition : owned.values()) {
                for (Strand strand : partition.strands()) {
                    if (!partition.isStopped()
                            && !strand.isHalted()
                            && (strand.undone() <= options.window() - readAtOnce() || wantsMore(strand))) {
                        strands.add(strand);
                        owners.add(partition);
                    } else {
                        dispatcher.wantRoom();
                    }
                }
            }
            numbers = strands.stream().mapToInt(Strand::number).toArray();
            positions = strands.stream().mapToLong(Strand::position).toArray();
        } finally {
            dispatcher.lock().unlock();
        }
        if (numbers.length == 0) {
            return 0;
        }
        Map<Integer, List<LogMessage>> found = segments.read(topic, numbers, positions, readAtOnce());
        int count = 0;
        dispatcher.lock().lock();
        try {
            for (int i = 0; i < numbers.length; i++) {
                List<LogMessage> messages = found.getOrDefault(numbers[i], List.of());
                count += messages.size();
                if (!messages.isEmpty() && !owners.get(i).isStopped()) {
                    dispatcher.offer(owners.get(i), strands.get(i), messages);
                }
            }
        } finally {
            dispatcher.lock().unlock();
        }
        return count;
    }

    private boolean anyWantsMore() {
        return owned.values().stream()
                .flatMap(partition -> partition.strands().stream())
                .anyMatch(this::wantsMore);
    }

    /** Whether its first unit of work has begun and not ended in what was read. */
    private boolean wantsMore(Strand strand) {
        return !options.batching().isSingle()
                && strand.runs.values().stream().anyMatch(run -> cut.wantsMore(run.waiting));
    }

    private int readAtOnce() {
        return Math.min(READ_AT_ONCE, (options.window() + 1) / 2);
    }

    private boolean isLive(Owned partition) {
        // A session that was ended has a successor at once, which owns nothing of what it had.
        return !partition.isStopped() && session.id() == joined && session.isAlive();
    }

    @Override
    public Dispatcher.Result handle(Worker worker, Run run, List<Item> items) {
        return deliveries.deliver(worker, run, items);
    }

    @Override
    public boolean mayRun(Run run) {
        return solitude.mayRun(run);
    }

    @Override
    public void finished(Run run, List<Item> items, Dispatcher.Result result) {
        for (Item item : items) {
            item.strand.clear(item.message.offset());
        }
        for (int i = 0; i < result.over(); i++) {
            watchOrder(run, items.get(i).message);
        }
        if (solitude.release(run)) {
            recorder.wakeGroups();
        }
        if (health.isFailing() || ill) {
            look();
        }
    }

    private void watchOrder(Run run, LogMessage message) {
        if (run.key == null || !cut.parks()) {
            return;
        }
        if (message.offset() <= run.last) {
            log.error("{}: {} was handled after {} of its key", group, message, run.last);
            monitor.outOfOrder(message);
        }
        run.last = Math.max(run.last, message.offset());
    }

    GroupMetrics metrics() {
        Long[] ends = table.ends(topic);
        Map<Integer, Long> lag = new TreeMap<>();
        long underWay = 0;
        dispatcher.lock().lock();
        try {
            for (Owned partition : owned.values()) {
                for (Strand strand : partition.strands()) {
                    underWay += strand.undone();
                    lag.merge(partition.partition(), Math.max(0, ends[strand.number()] - strand.cursor()), Long::sum);
                }
            }
        } finally {
            dispatcher.lock().unlock();
        }
        return monitor.metrics(underWay, health.isFailing(), lag);
    }

    /** Records what was done by now. */
    void record() {
        recorder.recordNow();
    }

    private Mark mark(Owned partition, Strand strand, List<Item> items) {
        dispatcher.lock().lock();
        try {
            return new Mark(joined, partition, strand, strand.nextSequence(), items);
        } finally {
            dispatcher.lock().unlock();
        }
    }

    /** Whether no handler runs that might end. */
    boolean isQuiet() {
        return dispatcher.isQuiet();
    }

    long takeUnrecorded() {
        dispatcher.lock().lock();
        try {
            return dispatcher.takeUnrecorded();
        } finally {
            dispatcher.lock().unlock();
        }
    }

    /** Adds what was done since it was last recorded. */
    void addChanged(List<Entry> entries) {
        dispatcher.lock().lock();
        try {
            for (Owned partition : owned.values()) {
                for (Strand strand : partition.strands()) {
                    if (strand.isChanged() && !partition.isLost()) {
                        entries.add(new Entry(
                                subscription.id(), partition, strand, strand.nextSequence(), strand.takeDone()));
                    }
                }
            }
        } finally {
            dispatcher.lock().unlock();
        }
    }

    /** These were not recorded, or nobody knows. */
    void recordAgain(List<Entry> entries) {
        dispatcher.lock().lock();
        try {
            entries.stream()
                    .filter(entry -> entry.subscription() == subscription.id())
                    .forEach(entry -> entry.strand().touch());
        } finally {
            dispatcher.lock().unlock();
        }
    }

    void changeStatus(String status) {
        String had = table.setStatus(subscription.id(), status);
        boolean allowed = switch (status) {
            case "PAUSED" -> had.equals("ACTIVE");
            case "ACTIVE" -> had.equals("PAUSED") || had.equals("DEAD");
            default -> !had.equals("CANCELLED");
        };
        if (!allowed) {
            throw new ConsumerGroupException("group \"" + group + "\" is " + had + ": it can not become " + status);
        }
        nextTick = System.nanoTime();
        loop.wake();
    }

    /** Lets handlers end, records what they did and hands over. What a handler still works on is handed over when it ends. */
    void close(Duration deadline) {
        loop.close();
        stopAll();
        if (dispatcher.awaitIdle(deadline.toNanos())) {
            leave();
            return;
        }
        log.warn("{}: handlers did not end within {}: their partitions are kept until they do", group, deadline);
        leave();
        Thread.ofVirtual().name("trunkline-last-handlers").start(() -> {
            while (!dispatcher.awaitIdle(Long.MAX_VALUE)) {
                log.debug("{}: waiting for its last handlers", group);
            }
            leave();
        });
    }

    private void leave() {
        try {
            recorder.recordNow();
            List<Integer> partitions;
            dispatcher.lock().lock();
            try {
                partitions = owned.values().stream()
                        .filter(partition -> !partition.isLost() && partition.running == 0)
                        .map(Owned::partition)
                        .toList();
                owned.keySet().removeAll(partitions);
            } finally {
                dispatcher.lock().unlock();
            }
            table.release(subscription.id(), joined, partitions);
            table.leave(subscription.id(), joined);
        } catch (TrunklineException e) {
            log.warn("{}: could not hand over, others will notice after a lease: {}", group, e.getMessage());
        }
    }
}
