package dev.trunkline.server.http;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Whether the database answers. Everybody may ask that, so the database is asked once a second, however many do. */
final class Readiness {

    private static final Duration TRUST = Duration.ofSeconds(1);

    private final Runnable question;
    private final ReentrantLock asking = new ReentrantLock();
    private @Nullable Answer last;

    private record Answer(long at, @Nullable RuntimeException trouble) {}

    Readiness(Runnable question) {
        this.question = question;
    }

    /** @throws RuntimeException what the question throws */
    void require() {
        asking.lock();
        try {
            Answer answer = last;
            if (answer == null || System.nanoTime() - answer.at > TRUST.toNanos()) {
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
            return new Answer(System.nanoTime(), null);
        } catch (RuntimeException e) {
            return new Answer(System.nanoTime(), e);
        }
    }
}
