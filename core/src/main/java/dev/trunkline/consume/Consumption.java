package dev.trunkline.consume;

import dev.trunkline.GroupMetrics;
import dev.trunkline.GroupStatus;
import dev.trunkline.LogMessage;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.consume.GroupTable.Entry;
import dev.trunkline.consume.GroupTable.Subscription;
import dev.trunkline.consume.GroupTable.View;
import dev.trunkline.consume.LetterTable.Mark;
import dev.trunkline.consume.Run.Item;
import dev.trunkline.database.Loop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A started group in this process: a loop that takes and gives partitions, reads ahead of the handlers within the window, and
 * attends to what is to be tried again.
 */
final class Consumption implements Dispatcher.Work {

    private static final Logger log = LoggerFactory.getLogger(Consumption.class);
    /** At the end of the log little comes at a time: the next read lets some of it gather. */
    private static final long GATHERING = TimeUnit.MILLISECONDS.toNanos(3);

    private static final long LONELY_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);
    /** While what could not be handed over at a close is. */
    private static final long NEXT_LOOK = TimeUnit.SECONDS.toNanos(1);

    private final Subject subject;
    private volatile String group;
    private final Subscription subscription;
    private final SubscriptionOptions options;
    private final Monitor monitor;
    private final GroupTable table;
    private final Recorder recorder;
    private final Supplier<Duration> pollInterval;
    private final Solitude solitude;
    private final Cut cut;
    private final Health health = new Health();
    private final Runs runs;
    private final Dispatcher dispatcher;
    private final Results results;
    private final Deliveries deliveries;
    private final Parking parking;
    private final Suspicion suspicion;
    private final Holdings holdings;
    private final Intake intake;
    private final Loop loop;

    private long nextTick = System.nanoTime();
    private long nextPoll = nextTick;
    private long nextRead = nextTick;
    /** There may be something to read that was not there, or not wanted, before. */
    private volatile boolean hopeful = true;
    /** Who serves the group, or its status, is not as it was at the last tick. */
    private volatile boolean changed;

    private GroupStatus status = GroupStatus.ACTIVE;
    private boolean historyHeld;
    private volatile boolean ill;
    private final AtomicLong steps = new AtomicLong();
    private volatile boolean closing;

    Consumption(
            String group,
            String topic,
            Subscription subscription,
            SubscriptionOptions options,
            Consumers<?> consumers,
            Monitor monitor,
            Groups.Parts parts) {
        this.subject = new Subject(group, topic);
        this.group = group;
        this.subscription = subscription;
        this.options = options;
        this.monitor = monitor;
        this.table = parts.table();
        this.recorder = parts.recorder();
        this.pollInterval = parts.pollInterval();
        this.solitude = parts.solitude();
        LetterTable letters = new LetterTable(
                parts.calls(), parts.permits(), parts.recorder()::recordNow, subject, subscription.id());
        this.cut = new Cut(options.batching(), subscription.ordered());
        this.runs = new Runs(cut, new Ready(subscription.partitions(), subscription.levels()), this::look);
        this.dispatcher = new Dispatcher(this, options.concurrency(), health, runs);
        this.parking = new Parking(subject, subscription, letters, cut, dispatcher, runs, this::mark, options.window());
        this.holdings = new Holdings(subject, subscription, options, parts, dispatcher, runs, parking, monitor);
        this.intake = new Intake(
                options,
                parts.log().reading(topic),
                cut,
                health,
                dispatcher,
                runs,
                holdings,
                () -> table.probe(subscription.id()),
                () -> recorder.hurry(this));
        this.results = new Results(subject, options, letters, cut, health, monitor, this::mark, dispatcher::over);
        Predicate<Owned> live = partition -> !dispatcher.isPaused() && holdings.isLive(partition);
        this.deliveries = new Deliveries(
                consumers, cut, new Transactions(letters, options.handlerTimeout(), live), results, this::mark, live);
        this.suspicion = new Suspicion(
                subject,
                letters,
                dispatcher,
                runs,
                solitude,
                this::mark,
                cut.parks() && options.retry().exhausted() == RetryPolicy.Exhausted.PARK_KEY);
        this.loop = new Loop("trunkline-group-" + subscription.id(), this::step);
    }

    Consumption start() {
        loop.start();
        return this;
    }

    /** There may be something to do: something was appended, or is over. */
    void look() {
        hopeful = true;
        loop.wake();
    }

    private Duration step() {
        steps.incrementAndGet();
        boolean ticked = changed || System.nanoTime() - nextTick >= 0;
        if (ticked) {
            changed = false;
            nextTick = System.nanoTime(); // should it fail
            tick();
        }
        holdings.handOver();
        giveUpHanging();
        if (!health.isFailing()) {
            parking.park(ticked);
        }
        parking.load(holdings.session());
        boolean lonely = status != GroupStatus.PAUSED && suspicion.look(holdings.session(), recorder::isQuiet);
        watchHealth();
        long now = System.nanoTime();
        long next = Math.min(dispatcher.locked(() -> runs.tryAgain(now)), lonely ? LONELY_PAUSE : Long.MAX_VALUE);
        if (hopeful && now - nextRead < 0) {
            next = Math.min(next, nextRead - now);
        } else if (hopeful || now - nextPoll >= 0) {
            hopeful = false;
            nextPoll = now + pollInterval.get().toNanos();
            int count = intake.read(status, historyHeld);
            if (count > 0) {
                hopeful = true;
                nextRead = now + (count < intake.atOnce() ? GATHERING : 0);
                return Duration.ZERO;
            }
            if (intake.isThrottled()) {
                hopeful = true;
                nextRead = now + GATHERING;
                next = Math.min(next, GATHERING);
            }
        }
        return Duration.ofNanos(Math.clamp(Math.min(nextTick, nextPoll) - System.nanoTime(), 0, next));
    }

    private void tick() {
        View view = holdings.tick();
        dispatcher.pause(view.status() == GroupStatus.PAUSED);
        dispatcher.locked(() -> runs.track(view.tracked()));
        hopeful |= status != view.status() || historyHeld != view.historyHeld();
        status = view.status();
        group = view.name() == null ? group : view.name();
        historyHeld = view.historyHeld();
        if (status == GroupStatus.PAUSED) {
            suspicion.pause(holdings.session(), holdings.all()::contains);
        }
        warnOfLongUnits();
        nextTick = System.nanoTime() + Shares.pause(ThreadLocalRandom.current());
    }

    private void warnOfLongUnits() {
        dispatcher.locked(() -> holdings.all().stream()
                .flatMap(partition -> partition.strands().stream())
                .flatMap(strand -> strand.runs.values().stream())
                .filter(run -> cut.isTooLong(run.waiting))
                .forEach(run -> subject.of(log.atError(), run.owned.partition())
                        .log(
                                "{}: the unit of work that begins with {} is longer than {} messages: its partition waits."
                                        + " Allow longer ones, with Batching.withLimit",
                                group,
                                run.waiting.getFirst().message,
                                options.batching().limit())));
    }

    private void giveUpHanging() {
        long timeout = options.handlerTimeout().toNanos();
        for (Worker worker : dispatcher.hurryUp(timeout)) {
            worker.abandon(timeout, (run, unit, before) -> {
                boolean given = results.abandon(run, unit, before);
                if (given) {
                    dispatcher.abandon(worker, run, unit, results.stops(run));
                    endSolitude(run);
                }
                return given;
            });
        }
    }

    /** When something succeeds after a time in which most failed, what waits for a slow retry need not wait. */
    private void watchHealth() {
        if (health.takeHope() && (ill || health.isFailing())) {
            dispatcher.locked(runs::hurry);
            hopeful = true;
        }
        if (ill != health.isFailing()) {
            if (ill) {
                log.info("{}: its handler succeeds again", group);
            }
            tellIll(!ill);
        }
    }

    private void tellIll(boolean now) {
        ill = now;
        monitor.tell(listener -> listener.failing(now));
    }

    // ---- handling ----

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
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
            run.strand.clear(item.message.offset());
            // A letter that is redriven where its key had gone on comes late because somebody wanted that.
            boolean redriven = item.parked && options.retry().exhausted() == RetryPolicy.Exhausted.SKIP;
            if (i < result.over() && !item.over && run.key != null && cut.parks() && !redriven) {
                watchOrder(run, item.message);
            }
        }
        endSolitude(run);
        if (ill || health.isFailing()) {
            look();
        }
    }

    private void endSolitude(Run run) {
        if (solitude.release(run)) {
            recorder.wakeGroups();
        }
    }

    private void watchOrder(Run run, LogMessage message) {
        if (message.offset() < run.last) {
            subject.of(log.atError(), message.partition())
                    .log("{}: {} was handled after {} of its key", group, message, run.last);
            monitor.outOfOrder(message);
        }
        run.last = Math.max(run.last, message.offset());
    }

    private Mark mark(Owned partition, Strand strand, List<Item> items) {
        return dispatcher.locked(() -> new Mark(holdings.session(), partition, strand, strand.nextSequence(), items));
    }

    // ---- for others ----

    /** What the group is called now. */
    String name() {
        return group;
    }

    int subscription() {
        return subscription.id();
    }

    boolean isOf(int other) {
        return subscription.id() == other;
    }

    /** How often its loop has begun anew. */
    long steps() {
        return steps.get();
    }

    boolean isClosing() {
        return closing;
    }

    /** Its loop stands still: others are to serve the group until it goes on. */
    void letGo(GroupTable aside) {
        subject.of(log.atError())
                .log(
                        "{}: its loop in this process stands still (does a listener block?): its partitions are left to others until it goes on",
                        group);
        holdings.letGo(aside);
    }

    /** Whether no handler runs that might end. */
    boolean isQuiet() {
        return dispatcher.isQuiet();
    }

    long takeUnrecorded() {
        return dispatcher.locked(runs::takeUnrecorded);
    }

    void addChanged(List<Entry> entries) {
        holdings.addChanged(entries);
    }

    void recordAgain(List<Entry> entries) {
        holdings.recordAgain(entries);
    }

    /** Records what was done by now. */
    void record() {
        recorder.recordNow();
    }

    GroupMetrics metrics() {
        long underWay = dispatcher.locked(() -> holdings.all().stream()
                .flatMap(partition -> partition.strands().stream())
                .mapToLong(Strand::undone)
                .sum());
        return monitor.metrics(underWay, health.isFailing(), holdings.lag());
    }

    void changeStatus(GroupStatus newStatus) {
        table.changeStatus(subscription.id(), newStatus);
        lookAtMembers();
    }

    /** Somebody has come, gone, or changed the group. */
    void lookAtMembers() {
        changed = true;
        loop.wake();
    }

    /** Lets handlers end, records what they did and hands over. What a handler still works on is handed over when it ends. */
    void close(Duration deadline) {
        closing = true;
        loop.close();
        if (ill) {
            tellIll(false); // it fails no more, as it handles no more
        }
        holdings.stopAll();
        holdings.leave(); // others need not wait for the last handler, with what is idle and with what they get of it
        boolean ended = dispatcher.awaitIdle(deadline.toNanos());
        if (!ended) {
            subject.of(log.atWarn())
                    .log(
                            "{}: handlers did not end within {}: their partitions are kept until they do",
                            group,
                            deadline);
        }
        if (!holdings.leave() || !ended) {
            holdings.beginToLeave();
            Thread.ofVirtual().name("trunkline-last-handlers").start(this::leaveAtLast);
        }
    }

    /** The session may live on, with other groups: what it does not hand over nobody would ever take. */
    private void leaveAtLast() {
        boolean ended = false;
        while (!holdings.leave() || !ended) {
            if (ended) {
                LockSupport.parkNanos(NEXT_LOOK);
            }
            ended = dispatcher.awaitIdle(NEXT_LOOK);
        }
        holdings.endLeaving();
    }
}
