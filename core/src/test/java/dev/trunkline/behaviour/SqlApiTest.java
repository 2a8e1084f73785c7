package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** What any language can do with a PostgreSQL driver. */
class SqlApiTest {

    private final TestDatabase database = TestDatabase.fresh();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.queue("t").withPartitions(1));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    @Test
    void a_message_published_by_sql_is_like_any_other() {
        database.query(
                "select trunkline.publish('t', '{\"a\": 1}'::jsonb, key => 'k', headers => '{\"h\": \"v\"}', correlation_id => 'c')");
        database.query("select trunkline.publish_all('t', array['a', 'b']::bytea[], keys => array['k', null])");
        trunkline.relayNow();
        assertThat(Logs.texts(trunkline, "t")).containsExactly("{\"a\": 1}", "a", "b");
        LogMessage first = Logs.all(trunkline, "t").getFirst();
        assertThat(first.headers()).isEqualTo(Map.of("h", "v"));
        assertThat(first.contentType()).isEqualTo("application/json");
    }

    @Test
    void people_see_json_as_json_text_as_text_and_the_rest_as_hex() {
        database.query("select trunkline.publish('t', '{\"a\": 1}'::jsonb)");
        database.query("select trunkline.publish('t', 'plain')");
        database.query("select trunkline.publish('t', '\\x00ff'::bytea)");
        database.query(
                "select trunkline.publish('t', convert_to('{\"a\": \"\\u0000\"}', 'UTF8'), content_type => 'application/json')");
        database.query("select trunkline.publish('t', '\\xff'::bytea, content_type => 'text/plain')");
        trunkline.relayNow();
        assertThat(database.query(
                        "select json, text, hex from trunkline.messages where topic = 't' order by \"offset\""))
                .containsExactly(
                        "{\"a\": 1}|null|null",
                        "null|plain|null",
                        "null|null|00ff",
                        "null|{\"a\": \"\\u0000\"}|null",
                        "null|null|ff");
        assertThat(database.query("select \"offset\", text from trunkline.read('t', 0, 1, 1)"))
                .containsExactly("1|plain");
        assertThat(database.query("select name, segments from trunkline.topics"))
                .containsExactly("t|1");
    }

    @Test
    void messages_are_json_in_and_out_with_the_fields_of_http() {
        database.query("select trunkline.create_topic('levels', partitions => 1, levels => 3)");
        database.query("select trunkline.subscribe_pull('shared', 'levels', 'BEGINNING')");
        assertThat(database.query("select cardinality(trunkline.publish_json('levels', ?::jsonb))", """
                [{"payload": {"n": 1.50}, "key": "k", "headers": {"a": "1, {\\"2\\"}"}, "correlationId": "c", "priority": null},
                 {"text": "grüße", "contentType": "text/x", "deliverAt": "2020-01-01T00:00:00Z"},
                 {"base64": "AP8=", "idempotencyKey": "once"},
                 {"base64": "AP8=", "idempotencyKey": "once"},
                 {"payload": null}]"""))
                .containsExactly("5");
        database.query("select trunkline.publish_json('levels', '{\"text\": \"high\", \"priority\": \"HIGH\"}')");
        database.query("select trunkline.publish_json('levels', '{\"text\": \"later\", \"delay\": \"PT1H\"}')");
        assertThat(database.query("select trunkline.publish_json('levels', '[]')"))
                .containsExactly("{}");
        trunkline.relayNow();
        List<String> messages = new ArrayList<>();
        for (int pops = 0; pops < 2; pops++) {
            messages.addAll(database.query("with b as (select trunkline.pop_json('shared', 'levels') as batch),"
                    + " a as (select batch, trunkline.ack(batch ->> 'token') from b)"
                    + " select m - '{id,publishedAt,appendedAt}'::text[] from a, jsonb_array_elements(batch -> 'messages') m"
                    + " order by m -> 'offset'"));
        }
        assertThat(messages)
                .containsExactlyInAnyOrder(
                        json(
                                "'text', '{\"n\": 1.50}', 'key', 'k', 'headers', jsonb_build_object('a', '1, {\"2\"}'), 'correlationId', 'c',"
                                        + " 'contentType', 'application/json', 'offset', 0"),
                        json("'text', 'grüße', 'contentType', 'text/x', 'offset', 1"),
                        json("'base64', 'AP8=', 'contentType', 'application/octet-stream', 'offset', 2"),
                        json("'text', 'null', 'contentType', 'application/json', 'offset', 3"),
                        json("'text', 'high', 'contentType', 'text/plain', 'offset', 0, 'priority', 'HIGH'"));
        assertThat(database.query("select trunkline.pop_json('shared', 'levels') is null"))
                .containsExactly("t");
        assertThat(database.number("select count(*) from trunkline.delayed")).isEqualTo(1);
    }

    /** A message as it is told, with what most of them have. */
    private String json(String fields) {
        return database.query(
                        "select jsonb_build_object('partition', 0, 'attempt', 1, 'priority', 'NORMAL', 'headers', '{}'::jsonb)"
                                + " || jsonb_build_object(" + fields + ")")
                .getFirst();
    }

    @Test
    void sql_alone_relays_and_tells_who_listens() throws SQLException {
        database.query("select trunkline.publish('t', 'one')");
        database.query("select trunkline.publish('t', 'two')");
        try (Connection listener = database.connect();
                Statement statement = listener.createStatement()) {
            statement.execute("listen trunkline_trunkline");
            assertThat(database.query("call trunkline.relay_now()")).containsExactly("2");
            PGNotification[] heard = listener.unwrap(PGConnection.class).getNotifications(10_000);
            assertThat(heard).extracting(PGNotification::getParameter).containsExactly("sql\nt");
        }
        assertThat(Logs.texts(trunkline, "t")).containsExactly("one", "two");
        assertThat(database.query("call trunkline.relay_now()")).containsExactly("0");
    }

    @Test
    void another_process_hears_of_what_sql_has_relayed() throws Exception {
        try (Trunkline other = database.options().backgroundWork(false).open()) {
            Log.Tail tail = other.log().tail("t");
            database.query("select trunkline.publish('t', 'one')");
            database.query("call trunkline.relay_now()");
            assertThat(tail.poll(Duration.ofSeconds(30))).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"relay_now()", "upkeep_now()", "run('0')"})
    void relay_and_upkeep_are_refused_inside_a_transaction_before_anything_is_done(String call) throws SQLException {
        database.query("select trunkline.publish('t', 'one')");
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> TestDatabase.query(connection, "call trunkline." + call))
                    .hasFieldOrPropertyWithValue("SQLState", "2D000");
            connection.rollback();
        }
        assertThat(Logs.texts(trunkline, "t")).isEmpty();
        assertThat(database.query("call trunkline.relay_now()")).containsExactly("1");
    }

    @Test
    void sql_alone_does_the_upkeep_unless_somebody_else_has_the_turn() {
        database.query("select trunkline.create_topic('small', partitions => 1, segment_bytes => 8192)");
        database.query(
                "select trunkline.publish_all('small', array_agg(repeat('x', 1000)::bytea)) from generate_series(1, 20)");
        database.query("call trunkline.relay_now()");
        database.query("select trunkline.take_turn('somebody')");
        assertThat(database.query("call trunkline.upkeep_now()")).containsExactly("0");
        assertThat(segments()).isEqualTo(1);
        database.query("select trunkline.leave_turn('somebody')");
        database.query("call trunkline.upkeep_now()");
        assertThat(segments()).isEqualTo(2);
    }

    @Test
    void a_lane_that_is_locked_does_not_hold_up_the_rest_of_the_upkeep() throws SQLException {
        database.query("select trunkline.create_topic('small', partitions => 1, segment_bytes => 8192)");
        database.query(
                "select trunkline.publish_all('small', array_agg(repeat('x', 1000)::bytea)) from generate_series(1, 20)");
        database.query("call trunkline.relay_now()");
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            TestDatabase.query(connection, "select from trunkline.lane for no key update");
            database.query("call trunkline.upkeep_now()");
            assertThat(segments()).isEqualTo(1);
            connection.rollback();
        }
        database.query("call trunkline.upkeep_now()");
        assertThat(segments()).isEqualTo(2);
    }

    @Test
    void sweeps_that_are_counted_come_once_a_minute_however_often_sql_does_the_upkeep() {
        database.query("select trunkline.begin_session('silent')");
        for (int i = 0; i < 4; i++) {
            database.query("call trunkline.upkeep_now()");
        }
        assertThat(database.query("select swept_beat is not null, still from trunkline.session"))
                .containsExactly("t|0");
        database.execute("update trunkline.upkeep_turn set pruned_at = pruned_at - interval '1 minute'");
        database.query("call trunkline.upkeep_now()");
        assertThat(database.query("select still from trunkline.session")).containsExactly("1");
    }

    @Test
    void a_cron_job_can_keep_everything_going() {
        database.query("select trunkline.create_topic('small', partitions => 1, segment_bytes => 8192)");
        database.query(
                "select trunkline.publish_all('small', array_agg(repeat('x', 1000)::bytea)) from generate_series(1, 20)");
        database.query("call trunkline.run('0')");
        assertThat(segments()).isEqualTo(2);
        assertThat(Logs.texts(trunkline, "small")).hasSize(20);
        for (String call : List.of("run('1 week')", "run(null)", "run('1 second', '0')", "run('1 second', null)")) {
            assertThatThrownBy(() -> database.query("call trunkline." + call))
                    .hasMessageContaining("is not possible")
                    .cause()
                    .hasFieldOrPropertyWithValue("SQLState", "TL008");
        }
    }

    /** Each run of the relay finds that something was published during the last one, up to a hundred times. */
    private void publishWithEveryRun() {
        database.execute("create function public.more() returns trigger language plpgsql as $$ begin"
                + " if (select count(*) from trunkline.outbox) < 100 then perform trunkline.publish('t', 'more'); end if;"
                + " return null; end $$");
        database.execute("create trigger more after insert on trunkline.mark execute function public.more()");
    }

    @Test
    void who_relays_is_done_with_what_was_there_however_much_others_publish_meanwhile() {
        publishWithEveryRun();
        database.query("select trunkline.publish('t', 'first')");
        assertThat(database.query("call trunkline.relay_now()")).containsExactly("1");
        assertThat(trunkline.relayNow()).isOne();
        database.query("call trunkline.run('0')");
        assertThat(Logs.texts(trunkline, "t")).containsExactly("first", "more", "more");
    }

    @Test
    void what_waits_behind_a_backlog_that_is_relayed_piece_by_piece_is_relayed_too() {
        database.query("select trunkline.publish_all('t', array_agg('x'::bytea)) from generate_series(1, 100)");
        assertThat(database.number("select trunkline.relay(1, 10)")).isEqualTo(10);
        database.query("select trunkline.publish('t', 'last')");
        assertThat(database.query("call trunkline.relay_now()")).containsExactly("91");
        database.query("select trunkline.publish_all('t', array_agg('x'::bytea)) from generate_series(1, 100)");
        database.query("select trunkline.relay(1, 10)");
        database.query("select trunkline.publish('t', 'last')");
        assertThat(trunkline.relayNow()).isEqualTo(91);
    }

    @Test
    void a_step_of_upkeep_that_fails_is_warned_of_and_the_run_goes_on() throws SQLException {
        database.query("select trunkline.create_topic('news', semantics => 'PUB_SUB', namespace => 'shop')");
        // One that no group can be made of.
        database.query("insert into trunkline.wildcard (group_name, namespace, mode, start_mode, attempts)"
                + " values ('bad', 'shop', 'PULL', 'NOW', 0)");
        assertThatThrownBy(() -> database.query("call trunkline.upkeep_now()"))
                .hasMessageContaining("match topics: ")
                .hasMessageContaining("can not be tried 0 times");
        database.query("select trunkline.publish('t', 'one')");
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("call trunkline.run('0')");
            assertThat(statement.getWarnings().getMessage()).contains("upkeep: match topics: ");
        }
        assertThat(Logs.texts(trunkline, "t")).containsExactly("one");
    }

    @Test
    void of_those_who_do_the_upkeep_by_sql_one_does_it_at_a_time() throws Exception {
        database.query("select trunkline.begin_session('silent')");
        database.query("select trunkline.create_topic('small', partitions => 1, segment_bytes => 16384)");
        try (Connection locker = database.connect()) {
            locker.setAutoCommit(false);
            TestDatabase.query(locker, "select from trunkline.session for update");
            CompletableFuture<List<String>> first =
                    CompletableFuture.supplyAsync(() -> database.query("call trunkline.upkeep_now()"));
            Awaitility.await()
                    .until(() -> database.number("select count(*) from pg_stat_activity where"
                                    + " datname = current_database() and wait_event_type = 'Lock'")
                            > 0);
            database.query(
                    "select trunkline.publish_all('small', array_agg(repeat('x', 1000)::bytea)) from generate_series(1, 20)");
            database.query("call trunkline.relay_now()");
            assertThat(database.query("call trunkline.upkeep_now()")).containsExactly("0");
            assertThat(segments()).isEqualTo(1);
            locker.rollback();
            first.get(1, TimeUnit.MINUTES);
        }
        database.query("call trunkline.upkeep_now()");
        assertThat(segments()).isEqualTo(2);
        assertThat(database.query("select who, until > clock_timestamp() from trunkline.upkeep_turn"))
                .as("somebody does it, and anybody may be the next")
                .containsExactly("null|t");
    }

    private long segments() {
        return database.number("select segments from trunkline.topics where name = 'small'");
    }

    @Test
    void a_sql_reader_crosses_segments() {
        for (int i = 0; i < 6; i++) {
            database.query("select trunkline.publish('t', ?)", "m" + i);
            trunkline.relayNow();
            if (i % 2 == 1) {
                database.query("select trunkline.roll_segment(1)");
            }
        }
        assertThat(database.query("select text from trunkline.read('t', 0, 1, 4)"))
                .containsExactly("m1", "m2", "m3", "m4");
        assertThat(database.query("select text from trunkline.messages where topic = 't'"))
                .hasSize(6);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            publish('nope', 'x'); TL001; there is no topic
            publish(null, 'x'); TL003; needs a topic
            publish('t', null::text); TL003; needs a payload
            publish('t', repeat('x', 1048577)); TL002; over the limit of 1048576
            publish('t', 'x', key => repeat('x', 1025)); TL003; a key of 1025 bytes
            publish('t', 'x', headers => '{"a": 1}'); TL003; headers are names and values that are text
            publish('t', 'x', headers => '[]'); TL003; headers are names and values that are text
            publish('t', 'x', headers => '{"a": null}'); TL003; headers are names and values that are text
            publish('t', 'x', priority => 1); TL003; no priority levels
            publish('t', 'x', priority => 7); TL003; priority 7
            publish('t', 'x', deliver_at => 'infinity'); TL003; can not be due at infinity
            publish('t', 'x', idempotency_key => ''); TL003; idempotency key of 0 bytes
            publish('t', 'x', content_type => ''); TL003; content type
            publish_all('t', array[null]::bytea[]); TL003; needs a payload
            publish_all('t', array['a']::bytea[], headers => array['{a}']); TL003; headers are names
            publish_json('t', null); TL003; message 1 can not be published: it is no object
            publish_json('t', '[{"text": "x"}, 7]'); TL003; message 2 can not be published: it is no object
            publish_json('t', '{"text": "x", "colour": "red"}'); TL003; a field "colour"
            publish_json('t', '[{"text": "x"}, {"key": "k"}]'); TL003; message 2 can not be published: it has to have one of
            publish_json('t', '{"text": "x", "payload": 1}'); TL003; it has to have one of
            publish_json('t', '{"text": 1}'); TL003; its text is not text in quotes
            publish_json('t', '{"text": "x", "headers": {"a": 1}}'); TL003; headers are not names
            publish_json('t', '{"text": "x", "headers": [1]}'); TL003; headers are not names
            publish_json('t', '{"text": "x", "priority": "TOP"}'); TL003; not LOW, NORMAL or HIGH
            publish_json('t', '{"text": "x", "priority": "HIGH"}'); TL003; no priority levels
            publish_json('t', '{"text": "x", "delay": "soon"}'); TL003; can not be read
            publish_json('t', '{"text": "x", "deliverAt": "soon"}'); TL003; can not be read
            publish_json('t', '{"text": "x", "delay": "PT1S", "deliverAt": "2020-01-01"}'); TL003; a delay, and a time
            publish_json('t', '{"base64": "%"}'); TL003; can not be read
            publish_json('nope', '{"text": "x"}'); TL001; there is no topic
            pop_json('shared', 'nope'); TL001; there is no topic
            pop_json('shared', 't'); TL008; there is no group
            create_topic('t'); TL006; there is a topic "t" already
            create_topic(''); TL005; 1 to 255 characters
            create_topic(E'a\\tb'); TL005; no control characters
            create_topic('x', partitions => 0); TL005; partitions
            create_topic('x', semantics => 'BOTH'); TL005; semantics
            drop_topic('nope'); TL001; there is no topic
            alter_topic('nope'); TL001; there is no topic
            alter_topic('t', retention => '-1 day'); TL005; retention
            set_unconfigured_topics('MAYBE'); TL005; REFUSE or QUEUE
            lag('shared', 'nope'); TL001; there is no topic "nope"
            lag('nobody', 't'); TL008; there is no group "nobody"
            read('nope', 0); TL001; there is no topic "nope"
            read('t', 1); TL008; has no partition 1
            redrive('shared', 'nope'); TL001; there is no topic "nope"
            redrive('nobody', 't'); TL008; there is no group "nobody"
            discard('shared', 'nope'); TL001; there is no topic "nope"
            seek('shared', 'nope', 'NOW'); TL001; there is no topic "nope"
            explain('nobody', 't', 1); TL008; there is no group "nobody"
            audit('nope', 1); TL001; there is no topic "nope"
            audit('t', 1); TL008; message 1 is not in the log
            """)
    void bad_input_gets_a_code_and_a_clear_text(String call, String code, String text) {
        assertThatThrownBy(() -> database.query("select trunkline." + call))
                .hasMessageContaining(text)
                .cause()
                .hasFieldOrPropertyWithValue("SQLState", code);
        assertThat(database.number("select count(*) from trunkline.outbox")).isZero();
    }
}
