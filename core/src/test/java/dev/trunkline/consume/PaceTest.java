package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.BackfillConfiguration;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Time here is a number. */
class PaceTest {

    private static final BackfillConfiguration SETTINGS =
            new BackfillConfiguration(1_000_000, 500, 10_000, Duration.ofMillis(5));
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

    private final Pace pace = new Pace(SETTINGS, 0);
    private long now;

    /** What is read in so many milliseconds, with answers that take so long. */
    private long read(long milliseconds, long latency) {
        long read = 0;
        for (long end = now + milliseconds * MILLISECOND; now < end; now += MILLISECOND) {
            if (pace.wantsProbe(now)) {
                pace.answered(now, latency * MILLISECOND);
            }
            int allowed = pace.allowance(now);
            assertThat(allowed).isBetween(0, SETTINGS.batchSize());
            pace.took(allowed);
            read += allowed;
        }
        return read;
    }

    @Test
    void it_begins_slowly_and_reaches_its_rate_and_no_more() {
        assertThat(read(200, 1)).isLessThan(400);
        read(20_000, 1);
        assertThat(pace.rate()).isEqualTo(SETTINGS.messagesPerSecond());
        assertThat(read(10_000, 1)).isBetween(95_000L, 100_500L);
    }

    @Test
    void it_reads_less_while_answers_are_late_and_more_again_when_they_are_not() {
        read(20_000, 1);
        long before = read(5_000, 1);
        long during = read(5_000, 6);
        assertThat(during).isLessThan(before / 3);
        assertThat(pace.rate()).isLessThan(SETTINGS.messagesPerSecond() / 50.0);
        // Six times twice as much, then a quarter more, four times: each takes 19 answers.
        read(10 * 19 * 21, 1);
        assertThat(read(5_000, 1)).isGreaterThan(before * 9 / 10);
    }

    @Test
    void it_never_stops() {
        read(120_000, 1_000);
        assertThat(read(10_000, 1_000)).isPositive();
    }

    @Test
    void one_late_answer_of_twenty_does_not_matter_and_the_second_one_does_at_once() {
        for (int i = 0; i < 20; i++) {
            pace.answered(now, (i == 7 ? 100 : 1) * MILLISECOND);
        }
        double rate = pace.rate();
        assertThat(rate).isGreaterThan(SETTINGS.messagesPerSecond() / 10.0);
        pace.answered(now, 100 * MILLISECOND);
        assertThat(pace.rate()).isEqualTo(rate);
        pace.answered(now, 100 * MILLISECOND);
        assertThat(pace.rate()).isEqualTo(rate / 2);
    }

    @Test
    void what_it_did_not_read_for_a_while_is_not_made_up_for() {
        read(20_000, 1);
        now += TimeUnit.SECONDS.toNanos(60);
        assertThat(pace.allowance(now)).isEqualTo(500);
        pace.took(500);
        assertThat(pace.allowance(now)).isZero();
    }
}
