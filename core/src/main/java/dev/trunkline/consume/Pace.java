package dev.trunkline.consume;

import dev.trunkline.BackfillConfiguration;
import java.util.concurrent.TimeUnit;

/**
 * How much of its history a group may read now: as much as its rate allows, which grows while small questions to the database are answered in
 * time, and is halved as soon as two of the last twenty were not. After that it doubles until it is at half of what it was, and then grows
 * bit by bit. Time is what the caller says. For the group's loop alone.
 */
final class Pace {

    private static final long BETWEEN_PROBES = TimeUnit.MILLISECONDS.toNanos(20);
    /** With as many answers in time, or as many late ones before that, the rate changes. */
    private static final int IN_TIME = 19;

    private static final int LATE = 2;
    private static final double BIT_BY_BIT = 1.25;
    private static final double SLOWEST = 0.01;
    private static final double AT_FIRST = 0.1;
    private static final double SECOND = 1e9;

    private final BackfillConfiguration settings;
    private int inTime;
    private int late;
    private double rate;
    /** The rate at which answers last began to be late. */
    private double tooFast;

    private double allowance;
    private long filledAt;
    private long nextProbe;

    Pace(BackfillConfiguration settings, long now) {
        this.settings = settings;
        this.rate = settings.messagesPerSecond() * AT_FIRST;
        this.filledAt = now;
        this.nextProbe = now;
    }

    /** How many strands are read at once, and how many messages of each. */
    record Share(int strands, int each) {}

    /** What is allowed, for as many strands as can get something of it, at most so many messages each. */
    static Share share(int allowance, int strands, int most) {
        int some = Math.min(strands, allowance);
        return new Share(some, some == 0 ? most : Math.clamp(allowance / some, 1, most));
    }

    /** The most messages in a second, as of now. */
    double rate() {
        return rate;
    }

    /** Whether it is time to ask the database something. */
    boolean wantsProbe(long now) {
        return now - nextProbe >= 0;
    }

    /** A small question was answered after so long. */
    void answered(long now, long nanos) {
        nextProbe = now + BETWEEN_PROBES;
        boolean isLate = nanos > settings.targetLatency().toNanos();
        inTime += isLate ? 0 : 1;
        late += isLate ? 1 : 0;
        if (late == LATE) {
            tooFast = Math.max(rate, tooFast);
            change(0.5);
        } else if (inTime == IN_TIME) {
            boolean isBelow = rate < tooFast / 2;
            tooFast = isBelow ? tooFast : 0;
            change(isBelow ? 2 : BIT_BY_BIT);
        }
    }

    private void change(double factor) {
        inTime = 0;
        late = 0;
        double most = settings.messagesPerSecond();
        rate = Math.clamp(rate * factor, Math.max(1, most * SLOWEST), most);
    }

    /** How many messages may be read now: as many as a batch has, or, where that is less, as come together in a twentieth of a second. */
    int allowance(long now) {
        int batch = (int) Math.clamp(rate / 20, 1, settings.batchSize());
        allowance = Math.min(allowance + rate * (now - filledAt) / SECOND, batch);
        filledAt = now;
        return allowance >= batch ? batch : 0;
    }

    /** So many were read. */
    void took(int messages) {
        allowance -= messages;
    }
}
