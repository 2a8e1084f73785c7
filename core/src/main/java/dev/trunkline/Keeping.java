package dev.trunkline;

import java.time.Duration;

/**
 * What a topic keeps for groups that do not come for it. A group holds back what it has not done; these are the limits, so that none does so for
 * ever. What a group misses by them is told: see {@link ConsumerGroupAdmin#gaps}.
 *
 * @param unheard how long messages of a pub/sub topic are kept that has no group
 * @param refuseUnheard whether such a topic refuses messages instead
 * @param zombieTtl for how long a group that is paused, or that nobody serves but that does not die of it (that of a queue, one that is pulled),
 *     holds messages back. A group of handlers on a pub/sub topic dies when nobody serves it ({@link SubscriptionOptions#deadAfter}, five minutes by
 *     default), and holds nothing back from then on. Who comes back holds back again what is still there
 * @param hardCap the age at which messages go, whoever has not handled them; not before the topic's retention is over
 */
public record Keeping(Duration unheard, boolean refuseUnheard, Duration zombieTtl, Duration hardCap) {

    /** A day without groups, a week for who does not come, thirty days at most. */
    public static Keeping standard() {
        return new Keeping(Duration.ofDays(1), false, Duration.ofDays(7), Duration.ofDays(30));
    }

    /** The same as {@link #standard}, which is meant for it: where data is little, keeping less of it saves nothing. */
    public static Keeping forLowThroughput() {
        return standard();
    }

    /** Much data: an hour without groups, a day for who does not come, a week at most. */
    public static Keeping forHighThroughput() {
        return new Keeping(Duration.ofHours(1), false, Duration.ofDays(1), Duration.ofDays(7));
    }

    /** Nothing goes unheard: refused without groups, a month for who does not come, a year at most. */
    public static Keeping forCriticalSystem() {
        return new Keeping(Duration.ofDays(7), true, Duration.ofDays(30), Duration.ofDays(365));
    }

    public Keeping withUnheard(Duration newUnheard) {
        return new Keeping(newUnheard, refuseUnheard, zombieTtl, hardCap);
    }

    /** Publishing to a topic without groups fails with {@link NoSubscriptionsException}. */
    public Keeping refusingUnheard() {
        return new Keeping(unheard, true, zombieTtl, hardCap);
    }

    public Keeping withZombieTtl(Duration newZombieTtl) {
        return new Keeping(unheard, refuseUnheard, newZombieTtl, hardCap);
    }

    public Keeping withHardCap(Duration newHardCap) {
        return new Keeping(unheard, refuseUnheard, zombieTtl, newHardCap);
    }
}
