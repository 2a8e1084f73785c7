package dev.trunkline.server.http;

import dev.trunkline.DatabaseUnavailableException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Whether the database answers. Everybody may ask that, so the database is asked once a second, however many do. */
final class Readiness {

    private static final Duration TRUST = Duration.ofSeconds(1);

    private final Runnable question;
    private final LongSupplier nanos;
    private final ReentrantLock asking = new ReentrantLock();
    private @Nullable Answer last;

    private record Answer(long at, @Nullable RuntimeException trouble) {}

    Readiness(Runnable question, LongSupplier nanos) {
        this.question = question;
        this.nanos = nanos;
    }

    /** @throws RuntimeException what the question throws */
    void require() {
        try {
            if (!asking.tryLock(TRUST.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new DatabaseUnavailableException("nobody has heard of the database for a while");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw HttpServer.stops();
        }
        try {
            Answer answer = last;
            if (answer == null || nanos.getAsLong() - answer.at > TRUST.toNanos()) {
                answer = ask();
                last = answer;
            }
            if (answer.trouble != null) {
                throw answer.trouble;
            }
        } finally {
            asking.unlock();
        }
    }

    private Answer ask() {
        try {
            question.run();
            return new Answer(nanos.getAsLong(), null);
        } catch (RuntimeException e) {
            return new Answer(nanos.getAsLong(), e);
        }
    }
}
