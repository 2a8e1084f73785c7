package dev.trunkline.consume;

import dev.trunkline.consume.Register.Entry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Some processes that share the partitions of a topic, in virtual time: they come, leave, die, stand still; the database is away, slow, or does
 * what it was asked and nobody hears of it. All follows from the seed. What must never be is a {@link Violation}.
 */
final class World {

    private static final long MILLISECOND = 1_000_000;
    private static final long SECOND = 1_000 * MILLISECOND;
    /** What is owed to a dead owner's partitions, beyond a lease. */
    private static final long REPLACED_WITHIN = 2 * SECOND;
    /** After its own trouble a process needs as long to beat again. */
    private static final long RECOVERED_WITHIN = SECOND;

    /** As long may loops wait before they try again, and a bit. */
    private static final long LONGEST_RETRY = 6 * SECOND;

    private static final long CHECK = 100 * MILLISECOND;
    private static final long STEADY = 5 * SECOND;
    private static final int MOST_MEMBERS = 6;

    /** Something that must not be. */
    static final class Violation extends AssertionError {
        final String promise;

        Violation(String promise, String detail) {
            super(promise + ": " + detail);
            this.promise = promise;
        }
    }

    private final Random random;
    private final Rules rules;
    private final VirtualTime time = new VirtualTime();
    private final Register register;
    private final int partitions;
    private final List<Duration> leases;
    private final List<Member> members = new ArrayList<>();
    private final boolean tells;
    private final List<String> story = new ArrayList<>();
    /** By partition: when it was last served, what was handled, and which take-over was the last that nobody undid by a seek. */
    private final long[] served;

    private final long[] handled;
    private final long[] sought;
    private final boolean onlyDeaths;
    private boolean calm;
    private long awayUntil;
    private long disturbedUntil;
    private int count;

    private World(long seed, Rules rules, boolean tells) {
        this.random = new Random(seed);
        this.rules = rules;
        this.tells = tells;
        this.onlyDeaths = random.nextInt(3) == 0;
        this.partitions = 1 + random.nextInt(12);
        this.register = new Register(rules, partitions);
        this.served = new long[partitions];
        this.handled = new long[partitions];
        this.sought = new long[partitions];
        Arrays.fill(sought, Long.MIN_VALUE);
        Duration lease = Duration.ofMillis(random.nextInt(3) == 0 ? 10_000 : 4_000 + random.nextInt(4_000));
        this.leases = random.nextInt(4) > 0
                ? List.of(lease)
                : List.of(lease, lease.multipliedBy(3), lease.dividedBy(2).plusSeconds(2));
    }

    /** Lets a world run. What is violated in it is told with what came before. */
    static void run(long seed, Rules rules) {
        try {
            new World(seed, rules, false).live();
        } catch (Violation e) {
            World again = new World(seed, rules, true);
            try {
                again.live();
            } catch (Violation told) {
                List<String> last = again.story.subList(Math.max(0, again.story.size() - 60), again.story.size());
                Violation whole = new Violation(
                        e.promise, "seed " + seed + ": " + e.getMessage() + "\n" + String.join("\n", last));
                whole.addSuppressed(e);
                throw whole;
            }
            throw new IllegalStateException("seed " + seed + " is not told twice in the same way", e);
        }
    }

    private void live() {
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            join();
        }
        after(SECOND, this::check);
        long gap = onlyDeaths ? 2 * longestLease() : SECOND * (1 + random.nextInt(20));
        long end = 60 * SECOND + 3 * gap;
        after(5 * SECOND, () -> disturb(gap, end));
        time.runUntil(end);
        calmDown();
        long latest = Math.max(now(), disturbedUntil) + longestLease() + (30 + 4L * partitions) * SECOND;
        String before = "";
        while (now() < latest && !(isFair() && before.equals(holders()))) {
            before = holders();
            time.runUntil(now() + STEADY);
        }
        if (now() >= latest) {
            fail("not fair", before + ", and then " + holders());
        }
    }

    // ---- what happens ----

    private void join() {
        Duration lease = leases.get(random.nextInt(leases.size()));
        long origin = random.nextBoolean() ? Long.MAX_VALUE - random.nextLong(100 * SECOND) : random.nextLong();
        Member member = new Member(this, register, rules, "process " + ++count, origin, lease);
        members.add(member);
        tell(member, "starts, with a lease of " + lease);
        disturbedUntil = Math.max(disturbedUntil, now());
        member.start();
    }

    private void disturb(long gap, long end) {
        if (now() >= end) {
            return;
        }
        members.removeIf(Member::isGone);
        if (members.isEmpty()) {
            join();
        }
        Member one = one(members);
        long lease = one.lease.toNanos();
        long some = random.nextBoolean() ? random.nextLong(lease) : lease + random.nextLong(2 * lease);
        switch (random.nextInt(onlyDeaths ? 5 : 12)) {
            case 0, 1 -> one.crash();
            case 2 -> one.crashAfterBeat();
            case 3, 4 -> {
                if (members.size() < MOST_MEMBERS) {
                    join();
                }
            }
            case 5 -> {
                tell(one, "closes");
                one.close();
            }
            case 6 -> stand(one, some);
            case 7 -> goAway(some);
            case 8 -> {
                one.cutUntil = now() + some;
                trouble(one, some + timeout(one));
                tell(one, "is cut off for " + Duration.ofNanos(some));
            }
            case 9 -> {
                one.lossyUntil = now() + some;
                trouble(one, some + timeout(one));
                tell(one, "loses answers for " + Duration.ofNanos(some));
            }
            case 10 -> {
                if (random.nextBoolean()) {
                    tell("the database is slow for " + Duration.ofNanos(some));
                    members.forEach(member -> slow(member, some));
                } else {
                    slow(one, some);
                    after(some, () -> one.cutUntil = now() + 2 * lease);
                    trouble(one, some + 2 * lease + timeout(one));
                    tell(one, "hears of the database late for " + Duration.ofNanos(some) + ", and then nothing");
                }
            }
            default -> {
                if (random.nextBoolean()) {
                    members.forEach(member -> stand(member, some));
                    goAway(some);
                } else {
                    seek();
                }
            }
        }
        after((long) (gap * random.nextDouble(0.1, 2)), () -> disturb(gap, end));
    }

    private void goAway(long nanos) {
        tell("the database is away for " + Duration.ofNanos(nanos));
        awayUntil = Math.max(awayUntil, now() + nanos);
        disturbedUntil = Math.max(disturbedUntil, awayUntil + longestTimeout() + LONGEST_RETRY);
    }

    private void stand(Member member, long nanos) {
        tell(member, "stands still for " + Duration.ofNanos(nanos));
        member.stand(nanos);
        disturbedUntil = Math.max(disturbedUntil, now() + nanos + timeout(member));
    }

    private void slow(Member member, long nanos) {
        member.slowUntil = now() + nanos;
        trouble(member, nanos + timeout(member));
    }

    /** It has just died. */
    void died(Member member) {
        tell(member, "dies");
        disturbedUntil = Math.max(disturbedUntil, now());
    }

    private void trouble(Member member, long nanos) {
        member.troubledUntil = Math.max(member.troubledUntil, now() + nanos);
        disturbedUntil = Math.max(disturbedUntil, now() + nanos + LONGEST_RETRY);
    }

    private void seek() {
        int partition = random.nextInt(partitions);
        register.seek(partition, random.nextLong(register.cursor(partition) + 1));
        sought[partition] = register.taking(partition);
        disturbedUntil = Math.max(disturbedUntil, now());
        tell("somebody sets partition " + partition + " back to " + register.cursor(partition));
    }

    private void calmDown() {
        tell("all calms down");
        calm = true;
        members.removeIf(Member::isGone);
        members.forEach(Member::spare);
        if (members.stream().allMatch(Member::isClosing)) {
            join();
        }
    }

    // ---- for processes ----

    /** Asks the database something. It may not answer, and have done it all the same, or do it later. */
    <T> void call(Member member, Supplier<T> statement, Consumer<T> answer, Runnable failed) {
        long timeout = timeout(member);
        long there = latency(member, 4);
        long back = latency(member, 2);
        boolean lost = now() < member.lossyUntil && random.nextInt(3) == 0;
        long failure = random.nextBoolean() ? timeout : jitter();
        if (isCut(member)) {
            member.after(failure, failed);
            return;
        }
        boolean late = there > timeout;
        if (late) {
            member.after(timeout, failed);
        }
        after(there, () -> {
            if (isCut(member) && (now() < awayUntil || random.nextBoolean())) {
                member.after(late ? 0 : failure, late ? () -> {} : failed);
                return;
            }
            T result = statement.get();
            if (late) {
                return;
            }
            if (lost || isCut(member)) {
                member.after(failure, failed);
            } else if (there + back > timeout) {
                member.after(timeout - there, failed);
            } else {
                member.after(back, () -> answer.accept(result));
            }
        });
    }

    private boolean isCut(Member member) {
        return now() < awayUntil || now() < member.cutUntil;
    }

    /** While it is slow, one in so many is. */
    private long latency(Member member, int of) {
        boolean slow = now() < member.slowUntil && random.nextInt(of) == 0;
        return slow ? random.nextLong(8 * SECOND) : 100_000 + random.nextLong(8 * MILLISECOND);
    }

    /** As {@code Trunkline} sets it for what must not wait. */
    private static long timeout(Member member) {
        return Math.max(2, member.lease.toSeconds() / 3) * SECOND;
    }

    private long longestTimeout() {
        return members.stream().mapToLong(World::timeout).max().orElse(0);
    }

    long now() {
        return time.now();
    }

    void after(long nanos, Runnable action) {
        time.after(nanos, action);
    }

    /** How late threads are. */
    long jitter() {
        return random.nextLong(2 * MILLISECOND);
    }

    long handling() {
        int sort = random.nextInt(100);
        return sort == 0 && !calm
                ? random.nextLong(20 * SECOND)
                : 50 * MILLISECOND + random.nextLong(700 * MILLISECOND);
    }

    Random random() {
        return random;
    }

    int partitions() {
        return partitions;
    }

    <T> T one(Collection<T> of) {
        return List.copyOf(of).get(random.nextInt(of.size()));
    }

    // ---- what must hold ----

    /** P5: no two processes hand out messages of a partition at once. Who is moved by people finds out when it looks. */
    void dispatched(Member by, Member.Hold hold) {
        for (Member member : members) {
            Member.Hold other = member.hold(hold.partition);
            if (other == null || other == hold || !member.isRunning() || isMoved(other) || isMoved(hold)) {
                continue;
            }
            if (other.isDispatched()) {
                fail("two owners", by + " and " + member + " both hand out partition " + hold.partition);
            }
            if (other.isRunning() && register.isLiving(other.session) && other.taking < hold.taking) {
                fail("handed over while it runs", by + " got partition " + hold.partition + " of " + member);
            }
        }
    }

    private boolean isMoved(Member.Hold hold) {
        return hold.taking < sought[hold.partition];
    }

    void handled(int partition, long upTo) {
        handled[partition] = Math.max(handled[partition], upTo);
    }

    /** P6: who was replaced changes nothing. */
    boolean recorded(Member by, long session, Entry entry) {
        boolean admitted = register.record(session, entry);
        if (admitted && register.taking(entry.partition()) != entry.taking()) {
            fail("no fence", by + " recorded " + entry + " though it was replaced");
        }
        if (admitted && entry.done() > handled[entry.partition()]) {
            fail("recorded and not handled", by + " recorded " + entry);
        }
        return admitted;
    }

    /** Who lives, and has no trouble of its own, is not ended: not by an outage either. */
    void ended(long session, Member by) {
        tell(by, "ends session " + session);
        for (Member member : members) {
            if (member.session() == session && member.isRunning() && now() - member.troubledUntil > RECOVERED_WITHIN) {
                fail(
                        "ended alive",
                        by + " ended " + member + ", whose last trouble was over " + ago(member.troubledUntil));
            }
        }
    }

    /** P10: a dead owner is replaced within its lease and a bit, if somebody lives. */
    private void check() {
        long within = longestLease() + REPLACED_WITHIN + (leases.size() > 1 ? SECOND / 2 : 0);
        boolean somebody = members.stream().anyMatch(member -> member.isRunning() && !member.isClosing());
        for (int partition = 0; partition < partitions; partition++) {
            if (!somebody || isServed(partition)) {
                served[partition] = now();
            } else if (now() - Math.max(served[partition], disturbedUntil) > within) {
                fail(
                        "not replaced",
                        "partition " + partition + " has no owner since " + ago(served[partition])
                                + ", the last trouble was " + ago(disturbedUntil) + "; " + holders());
            }
        }
        after(CHECK, this::check);
    }

    private long longestLease() {
        return leases.stream().mapToLong(Duration::toNanos).max().orElseThrow();
    }

    private boolean isServed(int partition) {
        for (Member member : members) {
            Member.Hold hold = member.isRunning() ? member.hold(partition) : null;
            if (hold != null && (hold.isDispatched() || hold.isRunning())) {
                return true;
            }
        }
        return false;
    }

    private boolean isFair() {
        Collection<Integer> shares = register.shares().values();
        int all = shares.stream().mapToInt(Integer::intValue).sum();
        return all == partitions
                && Collections.max(shares) - Collections.min(shares) <= 1
                && IntStream.range(0, partitions).allMatch(this::isServed);
    }

    private String holders() {
        StringBuilder text = new StringBuilder("held:");
        register.shares()
                .keySet()
                .forEach(session -> text.append(' ').append(session).append(register.owned(session)));
        return text.toString();
    }

    private String ago(long when) {
        return when > now() ? "not over" : Duration.ofNanos(now() - when) + " ago";
    }

    private void fail(String promise, String detail) {
        throw new Violation(promise, "after " + Duration.ofNanos(now()) + ": " + detail);
    }

    private void tell(Member member, String what) {
        if (tells) {
            tell(member + " " + what);
        }
    }

    private void tell(String what) {
        if (tells) {
            story.add(Duration.ofNanos(now()) + " " + what);
        }
    }
}
