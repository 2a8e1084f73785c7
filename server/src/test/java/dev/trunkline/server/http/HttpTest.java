package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class HttpTest {

    private Api api;

    @BeforeAll
    void start() throws Exception {
        api = Api.start();
    }

    @AfterAll
    void stop() throws Exception {
        api.close();
    }

    private void topic(String name) throws Exception {
        assertThat(api.post("/v1/topics", "{\"name\": \"" + name + "\", \"partitions\": 1}")
                        .status())
                .isEqualTo(201);
    }

    private static void problem(Api.Answer answer, int status, String... said) {
        assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
        assertThat(answer.type()).isEqualTo("application/problem+json");
        assertThat(answer.json().at("/status").asInt()).isEqualTo(status);
        for (String word : said) {
            assertThat(answer.text()).contains(word);
        }
    }

    @Test
    void everybody_may_ask_whether_it_lives_and_nothing_else() throws Exception {
        Api nobody = api.as(null);
        assertThat(nobody.get("/health").status()).isEqualTo(200);
        assertThat(nobody.get("/ready").status()).isEqualTo(200);
        problem(nobody.get("/v1/topics"), 401, "Bearer");
        problem(api.as("tl_made-up").get("/v1/topics"), 401);
    }

    @Test
    void what_can_be_got_can_be_asked_for_without_its_body_but_streams() throws Exception {
        Api.Answer head = api.as(null).send("HEAD", "/health", BodyPublishers.noBody(), null);
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.text()).isEmpty();
        topic("headed");
        assertThat(api.send("HEAD", "/v1/topics/headed", BodyPublishers.noBody(), null)
                        .status())
                .isEqualTo(200);
        Api.Answer stream = api.send("HEAD", "/v1/topics/headed/tail", BodyPublishers.noBody(), null);
        assertThat(stream.status()).isEqualTo(405);
        Api.Answer wrong = api.send("OPTIONS", "/v1/topics/headed", BodyPublishers.noBody(), null);
        assertThat(wrong.status()).isEqualTo(405);
        assertThat(wrong.response().headers().firstValue("Allow")).hasValue("GET, PATCH, DELETE");
    }

    @Test
    void lines_are_published_as_they_come_and_no_more_when_the_key_is_revoked() throws Exception {
        topic("slow-lines");
        Api.Answer given = api.post("/v1/keys", "{\"name\": \"lines\", \"verbs\": [\"PUBLISH\"]}");
        try (Socket line = new Socket(
                InetAddress.getLoopbackAddress(), URI.create(api.url()).getPort())) {
            line.setSoTimeout(60_000);
            OutputStream out = line.getOutputStream();
            out.write(("POST /v1/topics/slow-lines/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                            + "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\nAuthorization: Bearer "
                            + given.at("/key") + "\r\n\r\n")
                    .getBytes(StandardCharsets.ISO_8859_1));
            for (int i = 1; i <= 3; i++) {
                out.write("e\r\n{\"text\": \"%d\"}\n\r\n".formatted(i).getBytes(StandardCharsets.ISO_8859_1));
                int come = i;
                await().until(() -> published("slow-lines") == come);
            }
            assertThat(api.delete("/v1/keys/" + given.at("/id")).status()).isEqualTo(204);
            out.write("e\r\n{\"text\": \"4\"}\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            assertThat(new String(line.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 401")
                    .contains("\"published\":3");
        }
        assertThat(published("slow-lines")).isEqualTo(3);
    }

    private int published(String topic) throws Exception {
        return api.get("/v1/topics/" + topic + "/messages?from=0")
                .json()
                .at("/next")
                .asInt();
    }

    @Test
    void a_page_of_large_messages_is_shorter_and_says_where_the_next_begins() throws Exception {
        topic("thick");
        String line = "{\"text\": \"" + "x".repeat(90_000) + "\"}\n";
        assertThat(api.send(
                                "POST",
                                "/v1/topics/thick/messages",
                                BodyPublishers.ofString(line.repeat(500)),
                                "application/x-ndjson")
                        .status())
                .isEqualTo(201);
        int next = 0;
        int pages = 0;
        while (next < 500) {
            Api.Answer page = api.get("/v1/topics/thick/messages?limit=1000&from=" + next);
            int size = page.json().at("/messages").size();
            assertThat(page.json().at("/messages/0/offset").asInt()).isEqualTo(next);
            assertThat(size).isBetween(1, 400);
            next += size;
            assertThat(page.json().at("/next").asInt()).isEqualTo(next);
            pages++;
        }
        assertThat(pages).isGreaterThan(1);
    }

    @Test
    void a_body_that_does_not_come_does_not_keep_a_refusal_from_coming() throws Exception {
        try (Socket line = new Socket(
                InetAddress.getLoopbackAddress(), URI.create(api.url()).getPort())) {
            line.setSoTimeout(60_000);
            line.getOutputStream()
                    .write(
                            "POST /v1/topics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
                                    .getBytes(StandardCharsets.ISO_8859_1));
            String answer = new String(line.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 401").contains("Connection: close", "Bearer");
        }
    }

    @Test
    void topics_are_made_altered_listed_and_dropped() throws Exception {
        Api.Answer made = api.post("/v1/topics", """
                {"name": "life/of a tópic", "semantics": "PUB_SUB", "partitions": 3, "retention": "P2D"}""");
        assertThat(made.status()).as(made.toString()).isEqualTo(201);
        String path = "/v1/topics/" + Api.encode("life/of a tópic");
        assertThat(api.get(path).at("/retention")).isEqualTo("PT48H");
        assertThat(api.patch(path, "{\"retention\": \"PT1H\"}").at("/retention"))
                .isEqualTo("PT1H");
        problem(api.patch(path, "{\"partitions\": 4}"), 400, "partitions");
        problem(api.post("/v1/topics", "{\"name\": \"life/of a tópic\"}"), 409);
        assertThat(api.get("/v1/topics?limit=1000").text()).contains("life/of a tópic");
        assertThat(api.delete(path).status()).isEqualTo(204);
        problem(api.get(path), 404);
        problem(api.delete(path), 404);
    }

    @Test
    void a_list_comes_in_pages() throws Exception {
        for (int i = 0; i < 5; i++) {
            topic("page-" + i);
        }
        Api.Answer first = api.get("/v1/topics?limit=2&after=page-");
        assertThat(first.json().at("/items").size()).isEqualTo(2);
        assertThat(first.at("/next")).isEqualTo("page-1");
        Api.Answer second = api.get("/v1/topics?limit=2&after=page-1");
        assertThat(second.at("/items/0/name")).isEqualTo("page-2");
        for (int i = 0; i < 5; i++) {
            assertThat(api.put("/v1/topics/page-" + i + "/groups/shared", "{}").status())
                    .isEqualTo(204);
        }
        Set<String> all = new HashSet<>();
        String after = "";
        while (after != null) {
            Api.Answer page = api.get("/v1/groups?limit=2" + after);
            assertThat(page.json().at("/items").size()).isBetween(0, 2);
            page.json()
                    .at("/items")
                    .forEach(group -> assertThat(all.add(group.toString())).isTrue());
            after = page.json().at("/next").isNull() ? null : "&after=" + page.at("/next");
        }
        assertThat(all.toString()).contains("page-0", "page-1", "page-2", "page-3", "page-4");
        problem(api.get("/v1/groups?after=%25"), 400, "after");
    }

    @Test
    void what_is_published_is_read_pulled_and_settled() throws Exception {
        topic("q");
        String messages = "/v1/topics/q/messages";
        Api.Answer one =
                api.post(messages, "{\"payload\": {\"a\": [1, 2.50]}, \"key\": \"k\", \"headers\": {\"h\": \"v\"}}");
        assertThat(one.status()).as(one.toString()).isEqualTo(201);
        assertThat(one.json().at("/messages/0/offset").asLong()).isZero();
        assertThat(api.post(messages, "[{\"text\": \"two\"}, {\"base64\": \"/wA=\"}]")
                        .status())
                .isEqualTo(201);
        Api.Answer read = api.get(messages + "?from=0");
        assertThat(read.at("/messages/0/text")).isEqualTo("{\"a\":[1,2.50]}");
        assertThat(read.at("/messages/0/contentType")).isEqualTo("application/json");
        assertThat(read.at("/messages/1/text")).isEqualTo("two");
        assertThat(read.at("/messages/2/base64")).isEqualTo("/wA=");
        assertThat(read.json().at("/next").asLong()).isEqualTo(3);

        String group = "/v1/topics/q/groups/shared";
        problem(api.post(group + "/pull", "{}"), 404, "PUT");
        assertThat(api.put(group, "{\"start\": \"beginning\"}").status()).isEqualTo(204);
        Api.Answer batch = api.post(group + "/pull", "{\"max\": 10, \"lease\": \"PT20S\"}");
        assertThat(batch.json().at("/messages").size()).as(batch.toString()).isEqualTo(3);
        assertThat(batch.json().at("/messages/0/attempt").asInt()).isOne();
        assertThat(api.post(group + "/pull", "{}").status()).isEqualTo(204);
        String token = group + "/batches/" + batch.at("/token");
        assertThat(api.post(token + "/ack", "{\"offsets\": [0]}").text()).isEqualTo("{\"left\":[1,2]}");
        assertThat(api.post(token + "/extend", "{\"lease\": \"PT1M\"}").status())
                .isEqualTo(200);
        assertThat(api.post(token + "/nack", "{\"offsets\": [1], \"error\": \"later\"}")
                        .text())
                .isEqualTo("{\"left\":[2]}");
        assertThat(api.post(token + "/ack", "{}").status()).isEqualTo(200);
        assertThat(api.post(token + "/ack", "{}").status()).as("said twice").isEqualTo(200);
        Api.Answer again = api.post(group + "/pull", "{\"wait\": \"PT10S\"}");
        assertThat(again.json().at("/messages/0/attempt").asInt()).isEqualTo(2);
        problem(
                api.post(token + "/ack", "{}"),
                409,
                "\"epoch\":" + again.json().at("/epoch").asLong());
    }

    @Test
    void dead_letters_are_looked_at_edited_and_redriven() throws Exception {
        topic("dead");
        String group = "/v1/topics/dead/groups/shared";
        api.put(group, "{\"start\": \"beginning\"}");
        api.post(
                "/v1/topics/dead/messages",
                "{\"payload\": {\"total\": \"twelve\"}, \"headers\": {\"h\": \"v\"}, \"key\": \"k\"}");
        Api.Answer batch = api.post(group + "/pull", "{}");
        assertThat(api.post(
                                group + "/batches/" + batch.at("/token") + "/reject",
                                "{\"offsets\": [0], \"error\": \"twelve is no number\"}")
                        .status())
                .isEqualTo(200);
        Api.Answer listed = api.get(group + "/dead-letters");
        assertThat(listed.at("/items/0/error")).isEqualTo("twelve is no number");
        String letter =
                group + "/dead-letters/" + listed.json().at("/items/0/id").asLong();
        assertThat(api.get(letter).at("/text")).isEqualTo("{\"total\":\"twelve\"}");
        problem(api.get(group + "/dead-letters/999"), 404);
        problem(api.patch(group + "/dead-letters/999", "{}"), 404);
        problem(api.patch(letter, "{\"text\": \"a\", \"base64\": \"\"}"), 400, "payload");
        problem(api.patch(letter, "{\"key\": \"other\"}"), 400, "key");
        problem(api.patch(letter, "{\"contentType\": \"\"}"), 400, "contentType");
        Api.Answer edited = api.patch(letter, "{\"payload\": {\"total\": 12}}");
        assertThat(edited.at("/text")).as(edited.toString()).isEqualTo("{\"total\":12}");
        assertThat(edited.at("/headers/h")).isEqualTo("v");
        assertThat(edited.text()).contains("edited by");
        assertThat(api.post(group + "/dead-letters/redrive", "{}")
                        .json()
                        .at("/decided")
                        .asInt())
                .isOne();
        problem(api.patch(letter, "{\"text\": \"too late\"}"), 409);
        Api.Answer again = api.post(group + "/pull", "{\"wait\": \"PT20S\"}");
        assertThat(again.at("/messages/0/text")).isEqualTo("{\"total\":12}");
        assertThat(again.at("/messages/0/key")).isEqualTo("k");
    }

    @Test
    void a_pull_waits_for_what_is_published_meanwhile() throws Exception {
        topic("slow");
        api.put("/v1/topics/slow/groups/shared", "{\"start\": \"beginning\"}");
        CompletableFuture<Api.Answer> pulled = CompletableFuture.supplyAsync(() -> {
            try {
                return api.post("/v1/topics/slow/groups/shared/pull", "{\"wait\": \"PT30S\"}");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        api.post("/v1/topics/slow/messages", "{\"text\": \"at last\"}");
        assertThat(pulled.join().at("/messages/0/text")).isEqualTo("at last");
    }

    @Test
    void a_publish_that_is_repeated_with_its_key_is_one() throws Exception {
        topic("once");
        for (boolean duplicate : List.of(false, true)) {
            Api.Answer answer = api.send(
                    "POST",
                    "/v1/topics/once/messages",
                    BodyPublishers.ofString("[{\"text\": \"a\"}, {\"text\": \"b\"}]"),
                    "application/json",
                    "Idempotency-Key",
                    "order-7");
            assertThat(answer.json().at("/messages/1/duplicate").asBoolean()).isEqualTo(duplicate);
        }
        assertThat(api.get("/v1/topics/once/messages").json().at("/next").asLong())
                .isEqualTo(2);
    }

    @Test
    void lines_are_published_as_they_come() throws Exception {
        topic("lines");
        String body = IntStream.range(0, 20_000)
                .mapToObj(i -> "{\"text\": \"line " + i + "\", \"key\": \"k\"}")
                .collect(Collectors.joining("\n"));
        assertThat(body.length()).isGreaterThan((int) Api.MOST_BYTES);
        Api.Answer answer =
                api.send("POST", "/v1/topics/lines/messages", BodyPublishers.ofString(body), "application/x-ndjson");
        assertThat(answer.json().at("/published").asLong()).isEqualTo(20_000);
        assertThat(api.get("/v1/topics/lines/messages?from=19999").at("/messages/0/text"))
                .isEqualTo("line 19999");
        Api.Answer bad = api.send(
                "POST",
                "/v1/topics/lines/messages",
                BodyPublishers.ofString("{\"text\": \"good\"}\n{\"text\": 5}\n{\"text\": \"never seen\"}"),
                "application/x-ndjson");
        problem(bad, 400, "\"field\":\"text\"", "\"message\":1", "\"published\":0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "null",
                "5",
                "\"text\"",
                "{}",
                "{\"text\": \"a\", \"text\": \"b\"}",
                "{\"text\": 5}",
                "{\"text\": true}",
                "{\"txt\": \"a\"}",
                "{\"text\": \"a\", \"payload\": 1}",
                "{\"base64\": \"%\"}",
                "{\"text\": \"a\"} x",
                "{\"text\": \"a\", \"priority\": \"URGENT\"}",
                "{\"text\": \"a\", \"priority\": 1}",
                "{\"text\": \"a\", \"delay\": \"soon\"}",
                "{\"text\": \"a\", \"headers\": {\"h\": null}}",
                "{\"text\": \"a\", \"headers\": [\"h\"]}",
                "{\"text\": \"a\", \"key\": [\"k\"]}",
                "{\"text\": \"a\", \"deliverAt\": \"tomorrow\"}",
                "{\"text\": \"a\", \"delay\": \"PT1S\", \"deliverAt\": \"2026-11-17T00:00:00Z\"}",
                "[{\"text\": \"a\"}, null]",
                "[]",
                "[[]]",
                "{\"text\": \"a\", \"contentType\": \"\"}",
                "\u0000"
            })
    void a_message_that_is_none_is_refused_with_a_problem(String body) throws Exception {
        if (!api.get("/v1/topics/bad").text().contains("\"name\"")) {
            topic("bad");
        }
        problem(api.post("/v1/topics/bad/messages", body), 400);
        assertThat(api.get("/v1/topics/bad/messages").json().at("/next").asLong())
                .isZero();
    }

    @Test
    void what_is_not_there_or_not_so_is_a_problem() throws Exception {
        problem(api.get("/"), 404);
        problem(api.get("/v1/nothing"), 404, "openapi");
        problem(api.get("/v1/topics/"), 404);
        problem(api.put("/v1/topics", "{}"), 405, "POST");
        problem(api.post("/v1/topics/none/messages", "{\"text\": \"a\"}"), 404);
        problem(api.get("/v1/topics?limit=0"), 400, "limit");
        problem(api.get("/v1/topics?limit=x"), 400, "limit");
        problem(api.get("/v1/topics?size=5"), 400, "size");
        problem(api.get("/v1/topics?limit=5&limit=6"), 400, "limit");
        problem(api.get("/v1/topics/%FF"), 400);
        problem(api.send("POST", "/v1/topics", BodyPublishers.ofString("a=b"), "text/plain"), 415);
    }

    @Test
    void a_body_that_is_too_long_is_refused_before_it_has_come() throws Exception {
        topic("heavy");
        String large = "{\"text\": \"" + "x".repeat((int) Api.MOST_BYTES) + "\"}";
        problem(api.post("/v1/topics/heavy/messages", large), 413);
        // One that does not say how long it is, and never ends.
        Endless endless = new Endless();
        try {
            problem(
                    api.send(
                            "POST",
                            "/v1/topics/heavy/messages",
                            BodyPublishers.ofInputStream(() -> endless),
                            "application/json"),
                    413);
        } catch (IOException e) {
            assertThat(endless.sent.get())
                    .as("it was cut off: " + e.getMessage())
                    .isGreaterThan(Api.MOST_BYTES);
        }
        assertThat(endless.sent.get()).isLessThan(100 * Api.MOST_BYTES);
    }

    /** A text that does not end. */
    private static final class Endless extends InputStream {
        private static final byte[] BEGIN = "{\"text\": \"".getBytes(StandardCharsets.UTF_8);
        private final AtomicLong sent = new AtomicLong();

        @Override
        public int read() {
            byte[] one = new byte[1];
            read(one, 0, 1);
            return one[0];
        }

        @Override
        public int read(byte[] bytes, int from, int length) {
            if (sent.get() == 0) {
                System.arraycopy(BEGIN, 0, bytes, from, Math.min(length, BEGIN.length));
                sent.set(BEGIN.length);
                return BEGIN.length;
            }
            Arrays.fill(bytes, from, from + length, (byte) 'x');
            sent.addAndGet(length);
            return length;
        }
    }
}
