package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.server.Cli;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.eclipse.jetty.io.content.AsyncContent;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How often, how long and how slowly somebody may ask. */
@Timeout(120)
class LimitsTest {

    private static final long SECOND = 1_000_000_000L;

    @Test
    void a_caller_is_refused_what_is_more_than_his_rate_and_nobody_else_is() {
        AtomicLong clock = new AtomicLong();
        Rates rates = new Rates(10, clock::get);
        for (int i = 0; i < 10; i++) {
            assertThat(rates.allow("a")).isTrue();
        }
        assertThat(rates.allow("a")).isFalse();
        assertThat(rates.allow("b")).isTrue();
        clock.set(SECOND / 10);
        assertThat(rates.allow("a")).isTrue();
        assertThat(rates.allow("a")).isFalse();
        clock.set(Long.MIN_VALUE + 5);
        rates.allow("a");
        clock.addAndGet(SECOND);
        assertThat(rates.allow("a")).as("the clock may be anything").isTrue();
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
        try (AsyncContent source = new AsyncContent();
                Body body = new Body(source).limited(100, Duration.ofSeconds(1))) {
            source.write(false, ByteBuffer.wrap(new byte[] {7}), Callback.NOOP);
            assertThat(body.read()).isEqualTo(7);
            assertThatThrownBy(body::read).isInstanceOf(Problem.class).hasMessageContaining("within 1 s");
            assertThat(body.isLate()).isTrue();
        }
    }

    @Test
    void a_body_is_read_to_its_end_and_not_beyond_its_limit() throws Exception {
        for (int limit : new int[] {9, 10}) {
            try (AsyncContent source = new AsyncContent();
                    Body body = new Body(source).limited(limit, Duration.ofSeconds(60))) {
                source.write(false, ByteBuffer.wrap(new byte[4]), Callback.NOOP);
                source.write(true, ByteBuffer.wrap(new byte[6]), Callback.NOOP);
                if (limit == 10) {
                    assertThat(body.readAllBytes()).hasSize(10);
                } else {
                    assertThatThrownBy(body::readAllBytes)
                            .isInstanceOf(Problem.class)
                            .hasMessageContaining("9 bytes");
                }
            }
        }
    }

    @Test
    void what_the_library_refuses_is_told_like_all_else() throws Exception {
        try (Api api = Api.start()) {
            Map<Integer, String> heads = Map.of(
                    400,
                    "GET /v1/topics HTTP/1.1\r\nHost: a b\r\n",
                    431,
                    "GET /v1/topics HTTP/1.1\r\nHost: localhost\r\nX-Long: " + "x".repeat(20_000) + "\r\n",
                    414,
                    "GET /" + "x".repeat(20_000) + " HTTP/1.1\r\nHost: localhost\r\n",
                    417,
                    "POST /v1/topics HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\n");
            for (Map.Entry<Integer, String> head : heads.entrySet()) {
                try (RawClient client = new RawClient(api.url())) {
                    RawClient.Raw answer = client.ask(head.getValue(), "");
                    assertThat(answer.status()).as(answer.toString()).isEqualTo(head.getKey());
                    assertThat(answer.headers())
                            .containsEntry("content-type", "application/problem+json")
                            .containsEntry("cache-control", "no-store")
                            .containsEntry("x-content-type-options", "nosniff");
                }
            }
        }
    }

    @Test
    void an_upload_that_says_nothing_does_not_hold_up_the_stop() throws Exception {
        Api api = Api.start();
        api.post("/v1/topics", "{\"name\": \"t\", \"partitions\": 1}");
        URI url = URI.create(api.url());
        try (Socket upload = new Socket(url.getHost(), url.getPort())) {
            String head = "POST /v1/topics/t/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + api.key()
                    + "\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
            upload.getOutputStream().write((head + "e\r\n{\"text\": \"a\"}\n\r\n").getBytes(StandardCharsets.US_ASCII));
            Awaitility.await()
                    .until(() -> api.get("/v1/topics/t/messages?from=0").text().contains("\"a\""));
            Thread stop = Thread.startVirtualThread(api::close);
            String answer = new String(upload.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 503 ").contains("\"published\":1", "Retry-After: 1");
            stop.join();
        } finally {
            api.close();
        }
    }

    @Test
    void who_waits_for_a_body_does_something_else_before() throws Exception {
        try (AsyncContent source = new AsyncContent()) {
            AtomicInteger before = new AtomicInteger();
            Body body = new Body(source)
                    .endless(
                            Duration.ofSeconds(60),
                            () -> {
                                if (before.incrementAndGet() == 2) {
                                    source.write(true, ByteBuffer.wrap(new byte[1]), Callback.NOOP);
                                } else {
                                    source.write(false, ByteBuffer.wrap(new byte[3]), Callback.NOOP);
                                }
                            },
                            () -> false);
            assertThat(body.readAllBytes()).hasSize(4);
            assertThat(before).hasValue(2);
        }
    }
}
