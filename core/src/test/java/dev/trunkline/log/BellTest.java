package dev.trunkline.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BellTest {

    private static final long LONG = TimeUnit.MINUTES.toNanos(1);

    private final Bell bell = new Bell();
    private final List<String> told = new ArrayList<>();

    @Test
    void who_hears_one_topic_is_not_woken_for_another() {
        bell.onRing("one", "a", () -> told.add("one"));
        bell.onRing("other", "b", () -> told.add("other"));
        bell.ring("b");
        assertThat(told).containsExactly("other");
        assertThat(bell.count("a")).isZero();
        assertThat(bell.count("b")).isOne();
        assertThat(bell.count()).isOne();
    }

    @Test
    void what_may_be_any_topic_wakes_all() {
        bell.onRing("one", "a", () -> told.add("one"));
        bell.onRing("other", "a", () -> told.add("other"));
        bell.onRing("third", "b", () -> told.add("third"));
        bell.forget("other");
        bell.ringAll();
        assertThat(told).containsExactlyInAnyOrder("one", "third");
        assertThat(bell.count("never heard of")).isOne();
    }

    @Test
    void a_ring_of_before_is_not_waited_for_and_one_of_another_topic_is_no_ring() throws InterruptedException {
        bell.ring("a");
        bell.await("a", 0, LONG);
        bell.ringAll();
        bell.await("b", 0, LONG);
        bell.ring("a");
        long began = System.nanoTime();
        bell.await("b", 1, TimeUnit.MILLISECONDS.toNanos(20));
        assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(20));
    }
}
