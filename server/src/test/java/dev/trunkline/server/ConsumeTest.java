package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.ChildJvm;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code trunkline consume}. */
@Timeout(300)
class ConsumeTest {

    /** A batch is more than a pipe holds: who prints it waits in the middle of it for somebody to read. */
    private static final String PADDING = "x".repeat(4_000);

    private final String database = Cli.freshDatabase();

    private List<String> publish(TopicConfiguration topic, int count) {
        List<String> texts =
                IntStream.range(0, count).mapToObj(i -> "message-" + i + "-").toList();
        try (Trunkline trunkline = open()) {
            trunkline.topics().create(topic);
            texts.forEach(text -> trunkline.publisher().publish(Message.of(topic.name(), PADDING + text)));
        }
        return texts;
    }

    private static Set<String> texts(String out) {
        Set<String> found = new TreeSet<>();
        out.lines().map(line -> line.substring(line.indexOf("message-"))).forEach(found::add);
        return found;
    }

    @Test
    void what_is_printed_is_done_and_does_not_come_again() {
        List<String> all = publish(TopicConfiguration.pubSub("orders").withPartitions(2), 10);
        Cli.Result first = Cli.on(database, "consume", "orders", "--group", "g", "--from", "beginning", "--count", "4");
        assertThat(first.code()).as(first.err()).isZero();
        assertThat(first.out()).hasLineCount(4);
        Cli.Result rest = Cli.on(database, "consume", "orders", "--group", "g", "--count", "6", "--json");
        assertThat(rest.out()).hasLineCount(6).contains("\"topic\":\"orders\"", "\"text\":\"xxx");
        Set<String> found = texts(first.out());
        all.stream().filter(text -> rest.out().contains(text)).forEach(found::add);
        assertThat(found).containsExactlyInAnyOrderElementsOf(all);
        assertThat(Cli.on(database, "lag", "g", "orders").out()).containsPattern("g +orders +0 +0 +-");
    }

    @Test
    void what_a_killed_process_has_not_printed_comes_again() throws Exception {
        List<String> all = publish(TopicConfiguration.queue("orders").withPartitions(1), 300);
        Set<String> found = new TreeSet<>();
        try (ChildJvm child = ChildJvm.start(
                Main.class, Cli.at(database, "consume", "orders", "--from", "beginning", "--lease", "PT2S"))) {
            for (int i = 0; i < 5; i++) {
                found.addAll(texts(Objects.requireNonNull(child.readLine())));
            }
            child.kill();
            for (String line = child.readLine(); line != null; line = child.readLine()) {
                if (line.matches(".*message-\\d+-")) { // the last one may be torn
                    found.addAll(texts(line));
                }
            }
        }
        assertThat(found).hasSizeLessThan(100);
        consumeTheRest(found, all);
        assertThat(found).containsExactlyInAnyOrderElementsOf(all);
    }

    @Test
    void who_is_asked_to_stop_prints_what_it_has_and_leaves_no_batch_open() throws Exception {
        List<String> all = publish(TopicConfiguration.queue("orders").withPartitions(1), 50);
        StringBuilder out = new StringBuilder();
        try (ChildJvm child =
                ChildJvm.start(Main.class, Cli.at(database, "consume", "orders", "--from", "beginning"))) {
            out.append(child.readLine()).append('\n');
            ProcessHandle.of(child.pid()).orElseThrow().destroy();
            for (String line = child.readLine(); line != null; line = child.readLine()) {
                out.append(line).append('\n');
            }
            assertThat(child.waitFor(Duration.ofMinutes(2))).contains(0);
        }
        assertThat(texts(out.toString())).containsExactlyInAnyOrderElementsOf(all);
        assertThat(Cli.on(database, "lag", "--json").out()).contains("\"pending\":0");
    }

    @Test
    void what_the_reader_of_a_pipe_did_not_take_comes_again() throws SQLException {
        List<String> all = publish(TopicConfiguration.queue("orders").withPartitions(1), 20);
        StringWriter taken = new StringWriter();
        Writer pipe = new Writer() {
            @Override
            public void write(char[] text, int from, int length) throws IOException {
                if (taken.toString().lines().count() >= 3) {
                    throw new IOException("nobody reads");
                }
                taken.write(text, from, length);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        int code = Main.commandLine(Terminal.NONE)
                .setOut(new PrintWriter(pipe, true))
                .execute(Cli.at(database, "consume", "orders", "--from", "beginning"));
        assertThat(code).isZero();
        Set<String> found = texts(taken.toString());
        assertThat(found).hasSize(3);
        try (Connection connection = Cli.postgres().dataSource(database).getConnection();
                ResultSet tried = connection.createStatement().executeQuery("select from trunkline.attempt")) {
            assertThat(tried.next()).as("what nobody has tried has not failed").isFalse();
        }
        consumeTheRest(found, all);
        assertThat(found).containsExactlyInAnyOrderElementsOf(all);
    }

    @Test
    void what_a_slow_reader_is_given_is_nobody_elses_meanwhile() throws Exception {
        List<String> all = publish(TopicConfiguration.queue("orders").withPartitions(1), 100);
        Set<String> found = new TreeSet<>();
        try (ChildJvm child = ChildJvm.start(
                Main.class,
                Cli.at(database, "consume", "orders", "--from", "beginning", "--lease", "PT15S", "--count", "100"))) {
            found.addAll(texts(Objects.requireNonNull(child.readLine())));
            try (Trunkline trunkline = open()) {
                PullConsumer<byte[]> other =
                        trunkline.pull("shared", "orders", byte[].class, PullOptions.fromBeginning());
                awaitLeaseThatWasExtended();
                assertThat(other.pop(100, Duration.ofSeconds(30), Duration.ZERO))
                        .isEmpty();
            }
            for (String line = child.readLine(); line != null; line = child.readLine()) {
                found.addAll(texts(line));
            }
            assertThat(child.waitFor()).isZero();
        }
        assertThat(found).containsExactlyInAnyOrderElementsOf(all);
        assertThat(Cli.on(database, "lag", "--json").out()).contains("\"pending\":0");
    }

    /** Returns when the lease of the open batch would be over, had nobody extended it, and it is not. */
    private void awaitLeaseThatWasExtended() throws SQLException {
        try (Connection connection = Cli.postgres().dataSource(database).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create temp table first as select expires_at from trunkline.open_batches");
            Awaitility.await().until(() -> {
                try (ResultSet row = statement.executeQuery(
                        "select now() > f.expires_at and b.expires_at > now() + interval '5 s' from first f, trunkline.open_batches b")) {
                    return row.next() && row.getBoolean(1);
                }
            });
        }
    }

    private Trunkline open() {
        return Trunkline.builder()
                .url(
                        Cli.postgres().jdbcUrl(database),
                        Cli.postgres().user(),
                        Cli.postgres().password())
                .backgroundWork(false)
                .open();
    }

    /** So many as are missing are there to be had; some that come may have been seen before. */
    private void consumeTheRest(Set<String> found, List<String> all) {
        while (found.size() < all.size()) {
            Cli.Result some = Cli.on(database, "consume", "orders", "--count", "" + (all.size() - found.size()));
            assertThat(some.code()).as(some.err()).isZero();
            found.addAll(texts(some.out()));
        }
    }
}
