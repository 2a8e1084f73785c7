package dev.trunkline.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class PublishAndTailTest {

    private final String database = Cli.freshDatabase();

    @BeforeEach
    void topic() {
        assertThat(Cli.on(database, "migrate").code()).isZero();
        assertThat(Cli.on(database, "topics", "create", "orders", "--partitions", "1")
                        .code())
                .isZero();
    }

    @Test
    void what_is_published_is_printed_by_tail_with_all_that_belongs_to_it() {
        Cli.Result published = Cli.on(
                database, "publish", "orders", "grüß Gott", "--key", "k", "--header", "a=b", "--header", "c=d=e");
        assertThat(published.code()).as(published.err()).isZero();
        assertThat(published.out()).contains("is in partition 0 at offset 0");

        assertThat(tail("--count", "1").out()).endsWithIgnoringCase("  0@0  k  grüß Gott" + System.lineSeparator());
        JsonNode message =
                new JsonMapper().readTree(tail("--count", "1", "--json").out());
        assertThat(message.get("text").asString()).isEqualTo("grüß Gott");
        assertThat(message.get("key").asString()).isEqualTo("k");
        assertThat(message.get("contentType").asString()).isEqualTo("text/plain");
        assertThat(message.get("headers").toString()).isEqualTo("{\"a\":\"b\",\"c\":\"d=e\"}");
    }

    @Test
    void a_payload_that_begins_with_an_at_sign_is_published_as_it_is(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "what the file says");
        for (String payload : List.of("@" + file, "@@x", "@nothing")) {
            Cli.Result published = Cli.on(database, "publish", "orders", payload);
            assertThat(published.code()).as(published.err()).isZero();
        }
        assertThat(tail("--count", "3").out())
                .contains("  @" + file + System.lineSeparator())
                .contains("  @@x" + System.lineSeparator())
                .contains("  @nothing" + System.lineSeparator());
    }

    @Test
    void standard_input_without_an_end_is_refused_after_what_the_topic_takes() {
        InputStream endless = new InputStream() {
            @Override
            public int read() {
                return 'x';
            }
        };
        InputStream before = System.in;
        System.setIn(endless);
        try {
            Cli.Result result = Cli.on(database, "publish", "orders");
            assertThat(result.code()).isEqualTo(2);
            assertThat(result.err()).hasLineCount(1).contains("longer than the 1048576 bytes", "--max-payload-bytes");
        } finally {
            System.setIn(before);
        }
    }

    @Test
    void standard_input_is_published_byte_for_byte() {
        fromStandardInput("a line\n".getBytes(UTF_8));
        fromStandardInput(new byte[] {(byte) 0xff, 0});
        assertThat(tail("--count", "2", "--json").out())
                .contains("\"contentType\":\"text/plain\"", "\"text\":\"a line\\n\"")
                .contains("\"contentType\":\"application/octet-stream\"", "\"base64\":\"/wA=\"");
        assertThat(tail("--count", "2").out()).contains("(2 bytes of application/octet-stream)");
    }

    private void fromStandardInput(byte[] bytes) {
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(bytes));
        try {
            assertThat(Cli.on(database, "publish", "orders").code()).isZero();
        } finally {
            System.setIn(before);
        }
    }

    @Test
    void tail_follows_and_brings_what_is_delayed_when_it_is_due() throws Exception {
        Cli.Result delayed = Cli.on(database, "publish", "orders", "later", "--delay", "PT0.5S", "--json");
        assertThat(delayed.out()).contains("\"duplicate\":false");
        CompletableFuture<Cli.Result> following = CompletableFuture.supplyAsync(() -> tail("--count", "1"));
        assertThat(following.get(2, TimeUnit.MINUTES).out()).contains("later");
    }

    @Test
    void an_idempotency_key_lets_one_message_in() {
        String[] publish = {"publish", "orders", "x", "--idempotency-key", "once"};
        assertThat(Cli.on(database, publish).out()).contains("offset 0");
        assertThat(Cli.on(database, publish).out()).contains("nothing was added");
    }

    private Cli.Result tail(String... options) {
        String[] all = new String[options.length + 3];
        all[0] = "tail";
        all[1] = "orders";
        all[2] = "--from-beginning";
        System.arraycopy(options, 0, all, 3, options.length);
        return Cli.on(database, all);
    }
}
