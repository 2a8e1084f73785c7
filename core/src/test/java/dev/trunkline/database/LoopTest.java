package dev.trunkline.database;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LoopTest {

    /** The enemy: the beats of a process go on, and the loop that serves its partitions is gone. */
    @Test
    void an_error_does_not_end_it() throws InterruptedException {
        CountDownLatch steps = new CountDownLatch(2);
        try (Loop loop = new Loop("test", () -> {
            steps.countDown();
            throw new OutOfMemoryError("for a test");
        })) {
            loop.start();
            assertThat(steps.await(1, TimeUnit.MINUTES)).isTrue();
        }
    }

    /** The enemy: a listener that was interrupted leaves that to whoever called it. */
    @Test
    void an_interrupt_that_a_step_leaves_behind_does_not_end_it() throws InterruptedException {
        CountDownLatch steps = new CountDownLatch(2);
        try (Loop loop = new Loop("test", () -> {
            steps.countDown();
            Thread.currentThread().interrupt();
            return Duration.ofMillis(1);
        })) {
            loop.start();
            assertThat(steps.await(1, TimeUnit.MINUTES)).isTrue();
        }
    }
}
