package dev.trunkline.consume;

import dev.trunkline.BackfillConfiguration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * How much of its history a group may read now: as much as its rate allows, which grows bit by bit while small questions to the database
 * are answered in time, and falls at once when they are not. Time is what the caller says. For the group's loop alone.
 */
final class Pace {

    private static final long BETWEEN_PROBES = TimeUnit.MILLISECONDS.toNanos(20);
    /** As many answers make a decision. */
    private static final int SAMPLES = 20;

    private static final double LATE = 0.95;
    private static final double FASTER = 1.25;
    private static final double SLOWER = 0.5;
    private static final double SLOWEST = 0.002;
    private static final double AT_FIRST = 0.1;
    private static final double SECOND = 1e9;

    private final BackfillConfiguration settings;
    private final long[] answers = new long[SAMPLES];
    private int answered;
    private double rate;
    private double allowance;
    private long filledAt;
    private long nextProbe;

    Pace(BackfillConfiguration settings, long now) {
        this.settings = settings;
        this.rate = settings.messagesPerSecond() * AT_FIRST;
        this.filledAt = now;
        this.nextProbe = now;
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
        answers[answered++] = nanos;
        if (answered == SAMPLES) {
            answered = 0;
            Arrays.sort(answers);
            boolean late = answers[(int) (SAMPLES * LATE) - 1]
                    > settings.targetLatency().toNanos();
            rate = Math.clamp(
                    rate * (late ? SLOWER : FASTER),
                    Math.max(1, settings.messagesPerSecond() * SLOWEST),
                    settings.messagesPerSecond());
        }
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
