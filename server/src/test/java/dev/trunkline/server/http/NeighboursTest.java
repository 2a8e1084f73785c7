package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.Cli;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that asks nobody who he is, and pages in a browser on the same machine. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class NeighboursTest {

    private Api api;

    @BeforeAll
    void start() throws Exception {
        api = Api.start(Api.options(Api.address(Cli.freshDatabase())).unguarded());
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private RawClient.Raw ask(String host, String headers) throws Exception {
        try (RawClient client = new RawClient(api.url())) {
            return client.ask("GET /v1/topics HTTP/1.1\r\nHost: " + host + "\r\n" + headers, "");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"localhost", "LocalHost:8787", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8787", "127.1.2.3"})
    void programs_on_this_machine_are_served(String host) throws Exception {
        assertThat(ask(host, "").status()).isEqualTo(200);
        assertThat(ask(host, "Origin: http://localhost:3000\r\n").status()).isEqualTo(200);
        assertThat(ask(host, "Sec-Fetch-Site: same-origin\r\n").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example",
                "evil.example:8787",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "10.0.0.1",
                "[::2]"
            })
    void whoever_reaches_it_by_another_name_is_refused(String host) throws Exception {
        RawClient.Raw answer = ask(host, "");
        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.headers()).containsEntry("content-type", "application/problem+json");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Origin: https://evil.example",
                "Origin: null",
                "Origin: http://localhost.evil.example",
                "Origin: %",
                "Sec-Fetch-Site: cross-site",
                "Sec-Fetch-Site: same-site"
            })
    void a_page_of_somebody_else_is_refused(String header) throws Exception {
        assertThat(ask("localhost", header + "\r\n").status()).isEqualTo(403);
    }

    @Test
    void where_keys_are_asked_for_names_and_pages_do_not_matter() throws Exception {
        try (Api guarded = Api.start();
                RawClient client = new RawClient(guarded.url())) {
            String head = "GET /v1/topics HTTP/1.1\r\nHost: trunkline.example\r\nOrigin: https://shop.example\r\n";
            assertThat(client.ask(head, "").status()).isEqualTo(401);
            assertThat(client.ask(head + "Authorization: Bearer " + guarded.key() + "\r\n", "")
                            .status())
                    .isEqualTo(200);
        }
    }
}
