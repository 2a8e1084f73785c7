package dev.trunkline.server.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.Ordering;
import dev.trunkline.Priority;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.Shutdown;
import dev.trunkline.server.Cli;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Damage that was done on purpose is found, each kind of it; where there is none, nothing is. */
@Timeout(300)
class VerifyTest {

    private final String database = Cli.freshDatabase();

    private Trunkline open() {
        return open(Cli.postgres(), database);
    }

    private static Trunkline open(EmbeddedPostgres server, String database) {
        return Trunkline.builder()
                .url(server.jdbcUrl(database), server.user(), server.password())
                .backgroundWork(false)
                .open();
    }

    /** Three segments of two partitions, of which a group has done one message of each partition. */
    @BeforeEach
    void aLog() throws SQLException {
        try (Trunkline trunkline = open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("orders").withPartitions(2));
            PullConsumer<String> emails = trunkline.pull("emails", "orders", String.class, PullOptions.fromBeginning());
            for (int segment = 0; segment < 3; segment++) {
                for (int i = 0; i < 20; i++) {
                    trunkline
                            .publisher()
                            .publish(Message.of("orders", "order " + i)
                                    .withKey("key " + i)
                                    .withHeader("who", "\"me\", {and} you"));
                }
                if (segment < 2) {
                    execute("select trunkline.roll_segment(t.id) from trunkline.topic t");
                }
            }
            for (int i = 0; i < 2; i++) {
                emails.pop(1, Duration.ofMinutes(1)).ifPresent(batch -> emails.ack(batch.token()));
            }
        }
    }

    private void execute(String... statements) throws SQLException {
        try (Connection connection = Cli.postgres().dataSource(database).getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    private String ask(String sql) throws SQLException {
        try (Connection connection = Cli.postgres().dataSource(database).getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    private void assertFound(String... said) {
        Cli.Result result = Cli.on(database, "verify");
        assertThat(result.code()).as(result.out() + result.err()).isEqualTo(1);
        assertThat(result.out()).contains(said);
        assertThat(result.err()).isEmpty();
    }

    @Test
    void a_log_of_all_kinds_of_messages_is_clean() throws SQLException {
        try (Trunkline trunkline = open()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.queue("tasks")
                            .withOrdering(Ordering.THROUGHPUT)
                            .withPartitions(3));
            for (Priority priority : Priority.values()) {
                trunkline.publisher().publish(Message.of("tasks", "x").withPriority(priority));
            }
            trunkline.publisher().publish(Message.of("tasks", new byte[100_000]));
            trunkline.publisher().publish(Message.of("tasks", ""));
            trunkline.publisher().publish(Message.of("tasks", "later").withDelay(Duration.ofHours(1)));
            try (Connection connection = Cli.postgres().dataSource(database).getConnection()) {
                connection.setAutoCommit(false);
                for (int i = 0; i < 200; i++) {
                    trunkline
                            .publisher()
                            .publish(connection, Message.of("tasks", "many").withContentType("x/" + i % 3));
                }
                connection.commit();
            }
            trunkline.relayNow();
        }
        Cli.Result result = Cli.on(database, "verify");
        assertThat(result.code()).as(result.out() + result.err()).isZero();
        assertThat(result.out()).isEqualToIgnoringNewLines("nothing wrong: 2 topics, 4 segments, 265 messages");
        assertThat(Cli.on(database, "verify", "orders").out()).contains("1 topics, 3 segments, 60 messages");
        assertThat(Cli.on(database, "verify", "--json").out())
                .hasLineCount(1)
                .startsWith("{\"topics\":")
                .contains("\"findings\":0");
    }

    @Test
    void it_needs_no_more_than_to_read() throws SQLException {
        String reader = "reader_" + database;
        execute(
                "create role " + reader + " login password 'x'",
                "grant trunkline_reader to " + reader,
                "select trunkline.publish('orders', 'through the outbox'::text)",
                RELAY);
        Cli.Result result =
                Cli.run("verify", "--url", Cli.postgres().jdbcUrl(database), "--user", reader, "--password", "x");
        assertThat(result.code()).as(result.out() + result.err()).isZero();
    }

    @Test
    void messages_that_are_missing_are_found_with_their_place() throws SQLException {
        execute("delete from trunkline.segment_1 where partition = 0 and last_offset = 2");
        assertFound("topic orders partition 0 offsets 2 up to 3: missing from segment 1", "1 findings");
        assertThat(Cli.on(database, "verify", "--json").out())
                .contains("\"topic\":\"orders\",\"partition\":0,\"priority\":0,\"from\":2,\"to\":3")
                .hasLineCount(2)
                .contains("\"findings\":1}");
    }

    @Test
    void messages_that_are_missing_at_the_end_of_a_segment_are_found() throws SQLException {
        execute("delete from trunkline.segment_2 where partition = 1"
                + " and last_offset = (select max(s.last_offset) from trunkline.segment_2 s where s.partition = 1)");
        assertFound("missing from the end of segment 2");
    }

    @Test
    void messages_that_are_there_twice_are_found() throws SQLException {
        execute(
                "update trunkline.segment_1 set ids = ids || ids, lengths = lengths || lengths, keys = keys || keys,"
                        + " headers = headers || headers, payloads = payloads || payloads where partition = 0 and last_offset = 3");
        assertFound("topic orders partition 0 offsets 2 up to 3: twice in the log");
    }

    @Test
    void a_frame_that_was_changed_is_found() throws SQLException {
        execute("update trunkline.segment_2 set payloads = payloads || 'x' where ctid = '(0,1)'");
        assertFound("a frame whose payloads are not as long as its messages, in segment 2");
        execute("update trunkline.segment_3 set keys = keys || keys where ctid = '(0,1)'");
        assertFound("a frame whose columns do not belong together, in segment 3");
        execute("update trunkline.segment_1 set ids = array[null]::bigint[] where ctid = '(0,1)'");
        assertFound("a frame whose messages have no id or no length, in segment 1", "3 findings");
    }

    @Test
    void a_key_in_another_partition_is_found() throws SQLException {
        String stranger = ask(
                "select min(k) from generate_series(1, 99) n, concat('k', n) k where trunkline.partition_of(k, 2) = 1");
        execute("update trunkline.segment_1 set keys = array['" + stranger
                + "'] where partition = 0 and last_offset = 1");
        assertFound("topic orders partition 0 offsets 1 up to 2: a key that belongs in another partition");
    }

    @Test
    void a_frame_that_can_not_be_decoded_is_found_and_the_rest_is_read() throws SQLException {
        execute(
                "update trunkline.segment_1 set headers = array['{\"open'] where partition = 0 and last_offset = 2",
                "delete from trunkline.segment_1 where partition = 1 and last_offset = 1");
        assertFound(
                "topic orders partition 0 offsets 2 up to ",
                "can not be read: ERROR: malformed array literal",
                "topic orders partition 1 offsets 1 up to 2: missing",
                "2 findings");
    }

    @Test
    void a_time_that_runs_back_is_found() throws SQLException {
        execute("update trunkline.segment_2 set appended_at = appended_at - interval '1 day' where partition = 0"
                + " and last_offset = (select max(s.last_offset) from trunkline.segment_2 s where s.partition = 0)");
        assertFound("appended before what lies before them");
    }

    @Test
    void a_catalogue_that_does_not_fit_is_found() throws SQLException {
        execute("update trunkline.segment set bases[1] = bases[1] + 5 where id = 2");
        assertFound("topic orders partition 0 offsets", "missing from the end of segment 1");
        execute("update trunkline.segment set bases[1] = 0 where id = 3");
        assertFound("segment 3 begins before the one before it");
        execute("update trunkline.segment set bases = '{0}' where id = 1");
        assertFound("segment 1 has 1 bases and 2 times, not 2");
    }

    @Test
    void a_segment_without_a_table_and_a_table_without_a_segment_are_found() throws SQLException {
        execute("alter table trunkline.segment_1 rename to segment_77");
        assertFound(
                "topic orders partition 1 offsets 0 up to ",
                "the table of segment 1 is missing",
                "table segment_77 is a segment that the catalogue does not know");
    }

    @Test
    void what_was_dropped_unread_is_found() throws SQLException {
        execute("select trunkline.remove_segment(1)");
        assertFound("topic orders partition 0 offsets ", "group \"emails\" has not been given this");
    }

    @Test
    void what_retention_drops_unread_is_noted_and_no_finding() throws SQLException {
        execute(
                "update trunkline.segment set opened_at = opened_at - interval '60 days'",
                "select trunkline.trim(t.id) from trunkline.topic t");
        assertThat(ask("select count(*) from trunkline.gap")).isEqualTo("2");
        assertThat(ask("select count(*) from trunkline.segment")).isEqualTo("2");
        Cli.Result result = Cli.on(database, "verify");
        assertThat(result.code()).as(result.out()).isZero();
    }

    @Test
    void a_cursor_beyond_the_end_and_progress_of_nobody_are_found() throws SQLException {
        execute("update trunkline.holder set base = array['{[0,1000)}'::int8multirange] where partition = 1");
        assertFound(
                "topic orders partition 1 offsets", " up to 1000: group \"emails\" has done what is not in the log");
        execute("insert into trunkline.progress_1 (subscription, strand, epoch, sequence, done)"
                + " select s.id, 0, 999, 1, '{[0,3)}' from trunkline.subscription s");
        assertFound("partition 0 offsets 0 up to 3: group \"emails\" has progress of epoch 999");
        execute("delete from trunkline.holder where partition = 0");
        assertFound("group \"emails\" has 1 of 2 holders that fit");
    }

    @Test
    void marks_and_lanes_that_can_not_be_are_found() throws SQLException {
        execute(
                "insert into trunkline.mark (topic, lane, snapshot, due) select t.id, 0, '99999999:99999999:', now() from trunkline.topic t");
        assertFound("topic orders: lane 0 has a mark that lies in the future");
        execute("delete from trunkline.mark where lane = 1", "update trunkline.lane set segment = 1 where lane = 1");
        assertFound("lane 1 has no mark", "lane 1 appends to segment 1, which is not the last");
    }

    private static final String MARK_ALL = "insert into trunkline.mark (topic, lane, snapshot, due)"
            + " select l.topic, l.lane, pg_current_snapshot(), clock_timestamp() from trunkline.lane l";

    private static final String RELAY = "select trunkline.relay(t.id) from trunkline.topic t";

    private void assertClean() {
        Cli.Result result = Cli.on(database, "verify");
        assertThat(result.code()).as(result.out() + result.err()).isZero();
    }

    @Test
    void a_message_that_counts_as_relayed_and_is_not_in_the_log_is_found() throws SQLException {
        String id = ask("select trunkline.publish('orders', 'lost'::text, key => 'key 1')");
        execute("select trunkline.publish('orders', 'not yet relayed'::text, key => 'key 2')");
        assertClean();
        execute(
                "delete from trunkline.outbox_0 where key = 'key 2'",
                MARK_ALL,
                "select trunkline.publish('orders', 'not yet relayed'::text, key => 'key 1')");
        assertFound(
                "topic orders partition ",
                ": 1 messages that count as relayed are not in the log, the first is message " + id,
                "1 findings");
    }

    @Test
    void a_delayed_message_that_is_in_no_place_is_found() throws SQLException {
        execute(
                "select trunkline.publish('orders', 'later'::text, deliver_at => clock_timestamp() + interval '1 hour')",
                RELAY);
        assertThat(ask("select count(*) from trunkline.delayed")).isEqualTo("1");
        assertClean();
        execute(
                "insert into trunkline.mark (topic, lane, snapshot, due)"
                        + " select l.topic, l.lane, pg_current_snapshot(), clock_timestamp() + interval '2 hours' from trunkline.lane l");
        assertFound("1 messages that count as relayed are not in the log", "1 findings");
        execute("delete from trunkline.delayed");
        assertFound("1 messages that count as relayed are not in the log", "1 findings");
    }

    @Test
    void what_repeats_another_message_is_not_missed_and_what_does_not_is() throws SQLException {
        String publish = "select trunkline.publish('orders', 'x'::text, idempotency_key => 'same')";
        execute(publish, publish, RELAY, publish, RELAY);
        execute("update trunkline.installation set idempotency_since = idempotency_since - interval '1 hour'");
        assertThat(ask("select count(*) from trunkline.outbox")).isEqualTo("3");
        assertClean();
        execute("select trunkline.publish('orders', 'x'::text, idempotency_key => 'another')", MARK_ALL);
        assertFound("1 messages that count as relayed are not in the log", "1 findings");
        // Nobody knows any more whether it was one.
        execute("update trunkline.installation set idempotency_since = clock_timestamp()");
        assertClean();
    }

    @Test
    void what_retention_has_dropped_since_it_was_relayed_is_not_missed() throws SQLException {
        execute(
                "select trunkline.publish('orders', 'x'::text)",
                RELAY,
                "select trunkline.roll_segment(t.id) from trunkline.topic t",
                "update trunkline.segment set opened_at = opened_at - interval '60 days'");
        for (int segment = 0; segment < 3; segment++) {
            execute("select trunkline.trim(t.id) from trunkline.topic t");
        }
        assertThat(ask("select string_agg(s.id::text, ' ') from trunkline.segment s"))
                .isEqualTo("4");
        assertThat(ask("select count(*) from trunkline.outbox")).isEqualTo("1");
        assertClean();
        execute("update trunkline.outbox_0 set published_at = published_at + interval '5 minutes'");
        assertFound("1 messages that count as relayed are not in the log", "1 findings");
    }

    private static final String COPY = "create temp table copy as select * from trunkline.segment_3 where partition = 0"
            + " order by last_offset desc limit 1";
    private static final String INSERT_COPY = "insert into trunkline.segment_3 select * from copy";

    @Test
    void messages_that_are_there_twice_at_offsets_of_their_own_are_found() throws SQLException {
        execute(COPY, "update copy set last_offset = last_offset + cardinality(ids)", INSERT_COPY);
        String id = ask(
                "select base_id + ids[1] from trunkline.segment_3 where partition = 0 order by last_offset desc limit 1");
        assertFound(
                "topic orders partition 0 offsets ",
                ": the same id more than once in segment 3: message " + id,
                "2 findings");
    }

    @Test
    void frames_in_partitions_that_there_are_not_are_found() throws SQLException {
        execute(
                COPY,
                "update copy set partition = -1, base_id = base_id + 1",
                INSERT_COPY,
                "update copy set partition = 7, base_id = base_id + 1",
                INSERT_COPY);
        assertFound(
                "they lie in partition number -1, which there is not",
                "they lie in partition number 7, which there is not");
        execute(
                "update trunkline.segment_3 set headers = array['{\"open'] where partition = -1",
                "delete from trunkline.segment_3 where partition = 1 and last_offset ="
                        + " (select min(s.last_offset) from trunkline.segment_3 s where s.partition = 1)");
        assertFound(
                "segment 3 can not be read: ERROR: malformed array literal",
                "topic orders partition 1 offsets ",
                "missing from segment 3");
    }

    @Test
    void what_belongs_to_nothing_is_found() throws SQLException {
        execute(
                "insert into trunkline.blocked (subscription, strand, key) values (99, 0, 'x')",
                "insert into trunkline.mark (topic, lane, snapshot, due) values (98, 0, '1:1:', now())",
                "insert into trunkline.gap (subscription, strand, \"from\", \"to\", reason)"
                        + " select s.id, 0, 5, 500, 'SEEK' from trunkline.subscription s");
        assertFound(
                "1 rows of blocked belong to group number 99",
                "1 rows of mark belong to topic number 98",
                "topic orders partition 0 offsets 5 up to 500: group \"emails\" has a gap of what is not in the log");
    }

    @Test
    void a_page_that_is_broken_on_disk_is_a_finding() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.temporary().start()) {
            Path file;
            try (Trunkline trunkline = open(server, "postgres");
                    Connection connection = server.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                trunkline.topics().create(TopicConfiguration.queue("orders").withPartitions(1));
                for (int i = 0; i < 10; i++) {
                    trunkline.publisher().publish(Message.of("orders", "x".repeat(3_000)));
                }
                try (ResultSet row =
                        statement.executeQuery("select pg_relation_filepath('trunkline.segment_1'::regclass)")) {
                    row.next();
                    file = server.dataDirectory().resolve("cluster").resolve(row.getString(1));
                }
            }
            server.stop(Shutdown.FAST);
            try (RandomAccessFile disk = new RandomAccessFile(file.toFile(), "rw")) {
                disk.seek(2 * 8192 + 4096);
                disk.write(new byte[] {1, 2, 3, 4});
            }
            server.start();
            Cli.Result result = Cli.run(
                    "verify", "--url", server.jdbcUrl(), "--user", server.user(), "--password", server.password());
            assertThat(result.code()).as(result.out() + result.err()).isEqualTo(1);
            assertThat(result.out())
                    .contains("topic orders partition 0 offsets 4 up to the end: can not be read: ERROR: invalid page");
        }
    }

    @Test
    void a_database_without_the_schema_says_what_to_do() {
        Cli.Result result = Cli.on(Cli.freshDatabase(), "verify");
        assertThat(result.code()).isEqualTo(1);
        assertThat(result.err()).hasLineCount(1).contains("run trunkline migrate");
    }
}
