package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.server.Cli;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How often, how long and how slowly somebody may ask. */
@Timeout(120)
class LimitsTest {

    private static final long SECOND = 1_000_000_000L;

    @Test
    void a_caller_is_refused_what_is_more_than_his_rate_and_nobody_else_is() {
        Rates rates = new Rates(10);
        for (int i = 0; i < 10; i++) {
            assertThat(rates.allow("a", 0)).isTrue();
        }
        assertThat(rates.allow("a", 0)).isFalse();
        assertThat(rates.allow("b", 0)).isTrue();
        assertThat(rates.allow("a", SECOND / 10)).isTrue();
        assertThat(rates.allow("a", SECOND / 10)).isFalse();
        assertThat(rates.allow("a", Long.MIN_VALUE + 5))
                .as("the clock may be anything")
                .isNotNull();
    }

    @Test
    void who_asks_too_often_is_told_when_to_come_again() throws Exception {
        ServerOptions slow = Api.options(Api.address(Cli.freshDatabase())).withRequestsPerSecond(1);
        try (Api api = Api.start(slow)) {
            Api.Answer answer;
            do {
                answer = api.get("/v1/topics");
            } while (answer.status() == 200);
            assertThat(answer.status()).isEqualTo(429);
            assertThat(answer.response().headers().firstValue("Retry-After")).hasValue("1");
            assertThat(api.get("/health").status()).isEqualTo(200);
        }
    }

    @Test
    void a_body_that_comes_too_slowly_is_refused() throws Exception {
        AtomicLong now = new AtomicLong();
        try (InputStream in = new LimitedStream(new ByteArrayInputStream(new byte[100]), 100, now::get)) {
            assertThat(in.read()).isZero();
            now.set(31 * SECOND);
            assertThatThrownBy(in::read).isInstanceOf(Problem.class).hasMessageContaining("30 s");
        }
    }
}
