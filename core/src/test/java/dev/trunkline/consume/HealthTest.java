package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.LogMessage;
import dev.trunkline.testing.LogMessages;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HealthTest {

    private final Health health = new Health();
    private final Strand strand = new Strand(0, new Long[0], new Long[0]);

    @Test
    void few_messages_that_fail_are_their_own_fault_however_often_they_are_tried() {
        for (int attempt = 0; attempt < 100; attempt++) {
            IntStream.range(0, 9).forEach(this::fail);
        }
        assertThat(health.isFailing()).isFalse();
    }

    @Test
    void ten_messages_that_fail_and_nothing_else_mean_that_the_handler_is_ill() {
        IntStream.range(0, 9).forEach(this::fail);
        assertThat(health.failed(item(9))).isTrue();
        assertThat(health.isFailing()).isTrue();
        assertThat(health.failed(item(10))).as("said once").isFalse();
    }

    @Test
    void a_dozen_among_many_that_succeed_do_not() {
        health.succeeded(1_000, List.of());
        for (int attempt = 0; attempt < 100; attempt++) {
            IntStream.range(0, 12).forEach(this::fail);
        }
        assertThat(health.isFailing()).isFalse();
    }

    @Test
    void it_is_well_again_when_half_of_them_have_succeeded() {
        IntStream.range(0, 50).forEach(this::fail);
        assertThat(health.takeHope()).isFalse();
        for (int i = 0; i < 25; i++) {
            assertThat(health.isFailing()).isTrue();
            health.succeeded(1, List.of(item(i)));
            assertThat(health.takeHope()).isTrue();
        }
        assertThat(health.isFailing()).isFalse();
    }

    @Test
    void what_succeeds_meanwhile_pushes_out_what_failed_long_ago() {
        IntStream.range(0, 50).forEach(this::fail);
        health.succeeded(25, List.of());
        assertThat(health.isFailing()).isFalse();
        IntStream.range(100, 101).forEach(this::fail);
        assertThat(health.isFailing()).isTrue();
    }

    private void fail(int offset) {
        health.failed(item(offset));
    }

    private Run.Item item(long offset) {
        LogMessage message = LogMessages.at(offset, null);
        return new Run.Item(message, strand, 0, false);
    }
}
