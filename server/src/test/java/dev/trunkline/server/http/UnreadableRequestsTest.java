package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** What strangers send that is hardly HTTP. {@link FuzzedRequestsTest} has found it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class UnreadableRequestsTest {

    private Api api;

    @BeforeAll
    void start() throws Exception {
        api = Api.start();
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private RawClient.Raw say(String request) throws Exception {
        try (RawClient client = new RawClient(api.url())) {
            List<RawClient.Raw> answers =
                    client.say(request.getBytes(StandardCharsets.ISO_8859_1)).answers();
            assertThat(answers).hasSize(1);
            return answers.getFirst();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1306.1", "HTTP/9.9", "HTTP/1.2", "x"})
    void another_version_of_http_is_no_mistake_of_the_server(String version) throws Exception {
        RawClient.Raw answer = say("GET /health " + version + "\r\nHost: localhost\r\n\r\n");
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.headers()).containsEntry("content-type", HttpServer.PROBLEM);
        assertThat(answer.body()).contains("can not be read");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"OPTIONS ?limit", "OPTIONS *", "OPTIONS", "GET ?", "GET http://localhost", "CONNECT a:1", "GET x"
            })
    void what_has_no_path_is_refused(String line) throws Exception {
        RawClient.Raw answer = say(line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assertThat(answer.status()).isBetween(400, 499);
        assertThat(answer.headers()).containsEntry("content-type", HttpServer.PROBLEM);
    }

    @Test
    void what_strangers_send_is_not_logged() throws Exception {
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.addAppender(logged);
        try {
            for (String host : List.of("a\r\nHost: b", "[" + "x".repeat(5_000), "a:b", "\u00ff", "a b", ":")) {
                say("GET /health HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
            }
        } finally {
            root.detachAppender(logged);
        }
        assertThat(logged.list).isEmpty();
    }
}
