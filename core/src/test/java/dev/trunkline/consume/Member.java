package dev.trunkline.consume;

import dev.trunkline.GroupStatus;
import dev.trunkline.consume.Register.Entry;
import dev.trunkline.consume.Register.Taken;
import dev.trunkline.database.Backoff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A simulated process. It has the loops of a real one, a session's, a group's and a recorder's, and they do what {@link Session},
 * {@link Holdings} and {@link Recorder} do, by the same decisions; in between it may stand still, or die.
 */
final class Member {

    private static final long MILLISECOND = 1_000_000;
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(5);

    final Duration lease;
    private final World world;
    private final Register register;
    private final Rules rules;
    private final String name;
    /** Where its clock began: no two have the same, and some run over. */
    private final long origin;

    private final Rules.Watching others;
    private final Backoff sessionBackoff;
    private final Backoff groupBackoff = new Backoff(LONGEST_RETRY);
    private final Backoff recorderBackoff = new Backoff(LONGEST_RETRY);
    private final Map<Integer, Hold> owned = new TreeMap<>();
    private Pulse pulse = Pulse.NONE;
    private long joined;
    private boolean unsure;
    private long nextTick;
    private boolean closing;
    private int failures;
    private boolean dying;
    private boolean gone;
    private long standsUntil;

    /** Until when its line to the database is cut, loses answers, or something else is wrong that is its own trouble. */
    long cutUntil;

    long slowUntil;

    long lossyUntil;
    long troubledUntil;

    /** A partition that it believes to own. */
    final class Hold {
        final int partition;
        final long epoch;
        final long taking;
        final long session = joined;
        private long done;
        private long recorded;
        private boolean running;
        private boolean stopped;
        private boolean lost;

        private Hold(Taken taken, long cursor) {
            this.partition = taken.partition();
            this.epoch = taken.epoch();
            this.taking = taken.taking();
            this.done = cursor;
            this.recorded = cursor;
        }

        boolean isDispatched() {
            return !stopped && pulse.isAlive(joined, clock());
        }

        boolean isRunning() {
            return running;
        }

        private void lose() {
            stopped = true;
            lost = true;
        }

        private void dispatch() {
            if (stopped) {
                return;
            }
            if (!isDispatched()) {
                after(100 * MILLISECOND, this::dispatch);
                return;
            }
            running = true;
            world.dispatched(Member.this, this);
            after(world.handling(), () -> {
                running = false;
                done++;
                world.handled(partition, done);
                dispatch();
            });
        }
    }

    Member(World world, Register register, Rules rules, String name, long origin, Duration lease) {
        this.world = world;
        this.register = register;
        this.rules = rules;
        this.name = name;
        this.origin = origin;
        this.lease = lease;
        this.others = rules.watching().apply(lease);
        this.sessionBackoff = rules.backoff().get();
    }

    void start() {
        nextTick = clock();
        begin(
                () -> {
                    sessionStep();
                    groupStep();
                    recorderStep();
                },
                this::start);
    }

    // ---- what is done to it ----

    void crash() {
        gone = true;
        world.died(this);
    }

    /** What others saw of it last is as new as can be. */
    void crashAfterBeat() {
        dying = true;
    }

    void spare() {
        dying = false;
    }

    void stand(long nanos) {
        standsUntil = Math.max(standsUntil, world.now() + nanos);
        troubledUntil = Math.max(troubledUntil, standsUntil);
    }

    void close() {
        closing = true;
        owned.values().forEach(hold -> hold.stopped = true);
    }

    // ---- what others see ----

    boolean isGone() {
        return gone;
    }

    boolean isRunning() {
        return !gone && world.now() >= standsUntil;
    }

    boolean isClosing() {
        return closing;
    }

    long session() {
        return pulse.session();
    }

    /** What it has of a partition, if anything. */
    Hold hold(int partition) {
        return owned.get(partition);
    }

    private long clock() {
        return origin + world.now();
    }

    @Override
    public String toString() {
        return name + " (session " + pulse.session() + ")";
    }

    /** Does something later, unless it is dead then; if it stands still, when it no longer does. */
    void after(long nanos, Runnable action) {
        world.after(nanos, () -> awake(action));
    }

    void awake(Runnable action) {
        if (gone) {
            return;
        }
        if (world.now() < standsUntil) {
            world.after(standsUntil - world.now() + world.jitter(), () -> awake(action));
        } else {
            action.run();
        }
    }

    // ---- its session ----

    private void begin(Runnable then, Runnable failed) {
        long sent = clock();
        world.call(
                this,
                () -> register.begin(lease),
                id -> {
                    pulse = rules.beating().of(id, sent, clock(), lease);
                    then.run();
                },
                failed);
    }

    private void sessionStep() {
        if (pulse.isBeatDue(clock())) {
            long sent = clock();
            long id = pulse.session();
            world.call(
                    this,
                    () -> register.beat(id),
                    alive -> {
                        if (alive) {
                            pulse = rules.beating().of(id, sent, clock(), lease);
                            if (dying) {
                                crash();
                                return;
                            }
                            look();
                        } else {
                            begin(this::look, this::sessionFailed);
                        }
                    },
                    this::sessionFailed);
        } else {
            look();
        }
    }

    private void look() {
        long began = clock();
        long id = pulse.session();
        world.call(
                this,
                () -> register.beats(id),
                beats -> endAll(others.look(beats, clock() - began).entrySet().iterator(), () -> {
                    sessionBackoff.reset();
                    after(began + others.interval() - clock() + world.jitter(), this::sessionStep);
                }),
                this::sessionFailed);
    }

    private void endAll(Iterator<Map.Entry<Long, Long>> dead, Runnable then) {
        if (!dead.hasNext()) {
            then.run();
            return;
        }
        Map.Entry<Long, Long> one = dead.next();
        world.call(
                this,
                () -> {
                    boolean ended = register.end(one.getKey(), one.getValue());
                    if (ended) {
                        world.ended(one.getKey(), this);
                    }
                    return ended;
                },
                ended -> endAll(dead, then),
                this::sessionFailed);
    }

    private void sessionFailed() {
        others.fail();
        after(sessionBackoff.next().toNanos() + world.jitter(), this::sessionStep);
    }

    // ---- its group ----

    private void groupStep() {
        if (closing) {
            leave();
        } else if (clock() - nextTick >= 0) {
            tick();
        } else {
            handOver(this::rest);
        }
    }

    private void rest() {
        groupBackoff.reset();
        boolean waits = owned.values().stream().anyMatch(hold -> hold.stopped);
        after(Math.min(nextTick - clock(), (waits ? 50 : 2_000) * MILLISECOND) + world.jitter(), this::groupStep);
    }

    private void groupFailed() {
        if (closing && failures++ > 2) {
            crash();
        }
        after(groupBackoff.next().toNanos() + world.jitter(), this::groupStep);
    }

    private void tick() {
        long me = pulse.session();
        if (joined == me) {
            view(me);
            return;
        }
        owned.values().forEach(Hold::lose);
        owned.clear();
        world.call(
                this,
                () -> {
                    register.join(me);
                    return true;
                },
                answer -> {
                    joined = me;
                    view(me);
                },
                this::groupFailed);
    }

    private void view(long me) {
        world.call(this, register::shares, shares -> act(me, shares), this::groupFailed);
    }

    private void act(long me, Map<Long, Integer> shares) {
        int mine = shares.getOrDefault(me, 0);
        List<Integer> rest = new ArrayList<>();
        shares.forEach((session, count) -> {
            if (session != me) {
                rest.add(count);
            }
        });
        int kept = (int) owned.values().stream().filter(hold -> !hold.stopped).count();
        if (Shares.step(GroupStatus.ACTIVE, mine, owned.size(), kept, unsure) == Shares.Step.COMPARE) {
            compare(me);
            return;
        }
        Shares.Move move = rules.sharing().decide(world.partitions(), mine, rest);
        if (move.take() > 0) {
            unsure = true;
            take(move.take());
        } else {
            if (move.give() && owned.values().stream().noneMatch(hold -> hold.stopped)) {
                world.one(owned.values()).stopped = true;
            }
            ticked();
        }
    }

    private void ticked() {
        nextTick = clock() + Shares.pause(world.random());
        handOver(this::rest);
    }

    private void compare(long me) {
        world.call(
                this,
                () -> register.owned(me),
                epochs -> {
                    owned.values().stream()
                            .filter(hold -> !Long.valueOf(hold.epoch).equals(epochs.get(hold.partition)))
                            .forEach(Hold::lose);
                    Map<Integer, Long> unknown = new TreeMap<>(epochs);
                    unknown.keySet().removeAll(owned.keySet());
                    release(me, unknown, () -> {
                        unsure = false;
                        ticked();
                    });
                },
                this::groupFailed);
    }

    private void release(long me, Map<Integer, Long> epochs, Runnable then) {
        if (epochs.isEmpty()) {
            then.run();
            return;
        }
        world.call(
                this,
                () -> {
                    register.release(me, epochs);
                    return true;
                },
                answer -> then.run(),
                this::groupFailed);
    }

    private void take(int most) {
        long me = joined;
        world.call(
                this,
                () -> register.take(me, most),
                taken -> world.call(
                        this,
                        () -> taken.stream()
                                .map(each -> register.cursor(each.partition()))
                                .toList(),
                        cursors -> {
                            for (int i = 0; i < taken.size(); i++) {
                                own(new Hold(taken.get(i), cursors.get(i)));
                            }
                            unsure = false;
                            ticked();
                        },
                        this::groupFailed),
                this::groupFailed);
    }

    private void own(Hold hold) {
        Hold before = owned.put(hold.partition, hold);
        if (before != null) {
            before.lose();
        }
        if (closing) {
            hold.stopped = true;
        } else {
            hold.dispatch();
        }
    }

    private void handOver(Runnable then) {
        owned.values().removeIf(hold -> hold.lost);
        List<Hold> leaving = owned.values().stream()
                .filter(hold -> hold.stopped && !hold.running)
                .toList();
        if (leaving.isEmpty()) {
            then.run();
            return;
        }
        long me = joined;
        Map<Integer, Long> epochs = new TreeMap<>();
        leaving.forEach(hold -> epochs.put(hold.partition, hold.epoch));
        record(
                () -> release(me, epochs, () -> {
                    leaving.forEach(hold -> owned.remove(hold.partition, hold));
                    then.run();
                }),
                this::groupFailed);
    }

    /** Others need not wait for its last handlers: it is no member any more, and lets go of what is idle. */
    private void leave() {
        long me = joined;
        world.call(
                this,
                () -> {
                    register.leave(me);
                    return true;
                },
                answer -> handOver(() -> {
                    if (owned.isEmpty()) {
                        world.call(this, () -> register.end(pulse.session()), ended -> gone = true, this::crash);
                    } else {
                        after(50 * MILLISECOND, this::groupStep);
                    }
                }),
                this::groupFailed);
    }

    // ---- what it has done ----

    private void recorderStep() {
        record(
                () -> {
                    recorderBackoff.reset();
                    after((200 + world.random().nextInt(800)) * MILLISECOND, this::recorderStep);
                },
                () -> after(recorderBackoff.next().toNanos(), this::recorderStep));
    }

    private void record(Runnable then, Runnable failed) {
        long session = pulse.session();
        List<Hold> changed = owned.values().stream()
                .filter(hold -> !hold.lost && hold.done > hold.recorded)
                .toList();
        if (changed.isEmpty()) {
            then.run();
            return;
        }
        List<Entry> entries = changed.stream()
                .map(hold -> new Entry(hold.partition, hold.epoch, hold.done, hold.taking))
                .toList();
        world.call(
                this,
                () -> entries.stream()
                        .map(entry -> world.recorded(this, session, entry))
                        .toList(),
                admitted -> {
                    for (int i = 0; i < changed.size(); i++) {
                        if (admitted.get(i)) {
                            changed.get(i).recorded = entries.get(i).done();
                        } else {
                            changed.get(i).lose();
                        }
                    }
                    then.run();
                },
                failed);
    }
}
