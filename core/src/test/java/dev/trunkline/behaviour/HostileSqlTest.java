package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.PullOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.HostileInputs;
import dev.trunkline.testing.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** F28 and F29 for those who use SQL: each function takes a text as it is, or refuses it with a code of ours. What no driver can send is left out. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileSqlTest {

    private static final List<String> TEXTS = HostileInputs.some(text -> text.length() <= 255).stream()
            .filter(text -> text.indexOf('\0') < 0)
            .filter(StandardCharsets.UTF_8.newEncoder()::canEncode)
            .toList();

    private final TestDatabase database = TestDatabase.fresh();
    private final Trunkline trunkline = database.open();
    private final Connection connection;
    private int cases;

    HostileSqlTest() throws SQLException {
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
        trunkline.pull("g", "t", byte[].class, PullOptions.fromNow());
        connection = database.connect();
        connection.setAutoCommit(false);
    }

    @AfterAll
    void close() throws SQLException {
        System.out.println(cases + " bad texts were thrown at the SQL functions");
        connection.close();
        trunkline.close();
    }

    /** Each call is undone. */
    private List<String> call(String sql, Object... parameters) throws SQLException {
        cases++;
        try {
            return TestDatabase.query(connection, sql, parameters);
        } finally {
            connection.rollback();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "create_topic(?, partitions => 1)",
                "create_topic('n', partitions => 1, namespace => ?)",
                "create_topic('n', semantics => ?)",
                "create_topic('n', ordering => ?)",
                "create_topic('n', unheard => ?)",
                "create_topic('n', tracking => ?)",
                "alter_topic(?, retention => '1 day')",
                "alter_topic('t', task => ?)",
                "alter_topic('t', semantics => ?)",
                "drop_topic(?)",
                "publish(?, 'x'::text)",
                "publish('t', ?::text)",
                "publish('t', 'x'::text, key => ?)",
                "publish('t', 'x'::text, headers => jsonb_build_object(?::text, 'v'))",
                "publish('t', 'x'::text, headers => jsonb_build_object('h', ?::text))",
                "publish('t', 'x'::text, correlation_id => ?)",
                "publish('t', 'x'::text, idempotency_key => ?)",
                "publish('t', 'x'::bytea, content_type => ?)",
                "publish_all(?, array['x']::bytea[])",
                "publish_all('t', array['x']::bytea[], keys => array[?])",
                "publish_all('t', array['x']::bytea[], headers => array[?])",
                "publish_all('t', array['x']::bytea[], content_types => array[?])",
                "publish_all('t', array['x']::bytea[], correlation_ids => array[?])",
                "publish_all('t', array['x']::bytea[], idempotency_keys => array[?])",
                "publish_all('t', array['x']::bytea[], deliver_ats => array[?])",
                "publish_json(?, '{\"text\": \"x\"}')",
                "publish_json('t', to_jsonb(?::text))",
                "publish_json('t', jsonb_build_object(?::text, 'x'))",
                "publish_json('t', jsonb_build_object('text', 'x', 'key', ?::text))",
                "publish_json('t', jsonb_build_object('text', 'x', 'priority', ?::text))",
                "publish_json('t', jsonb_build_object('text', 'x', 'delay', ?::text))",
                "publish_json('t', jsonb_build_object('text', 'x', 'deliverAt', ?::text))",
                "publish_json('t', jsonb_build_object('text', 'x', 'headers', jsonb_build_object(?::text, 'v')))",
                "publish_json('t', jsonb_build_object('base64', ?::text))",
                "pop_json(?, 't')",
                "pop_json('g', ?)",
                "subscribe(?, 't')",
                "subscribe('n', ?)",
                "subscribe('n', 't', ?)",
                "subscribe('n', 't', a_mode => ?)",
                "subscribe('n', 't', a_keys => array[?])",
                "subscribe_pull(?, 't')",
                "subscribe_pull('n', ?)",
                "subscribe_pull('n', 't', ?)",
                "subscribe_pull('n', 't', a_keys => array[?])",
                "subscribe_wildcard(?, 'n')",
                "subscribe_wildcard('n', ?)",
                "subscribe_wildcard('n', a_name => ?)",
                "subscribe_wildcard('n', a_name => 'x', a_start => ?)",
                "subscribe_wildcard('n', a_name => 'x', a_mode => ?)",
                "cancel_wildcard(?, 'n')",
                "cancel_wildcard('n', ?)",
                "pop(?, 't', 1, '1 minute')",
                "pop('g', ?, 1, '1 minute')",
                "ack(?)",
                "nack(?, null, '1 minute', 'error')",
                "reject(?)",
                "extend(?, '1 minute')",
                "change_group(?, 't', 'PAUSED')",
                "change_group('g', 't', ?)",
                "seek(?, 't', 'NOW')",
                "seek('g', ?, 'NOW')",
                "seek('g', 't', ?)",
                "force_complete(?, 't')",
                "resurrect(?, 't')",
                "hold_catch_up(?, 't', true)",
                "skip_catch_up(?, 't')",
                "explain(?, 't', 1)",
                "audit(?, 1)",
                "redrive(?, 't')",
                "discard('g', ?)",
                "read(?, 0)",
                "lag(?, 't')",
                "set_unconfigured_topics(?)",
                "set_default_start(?)"
            })
    void a_function_refuses_with_a_code_of_ours(String function) {
        List<String> wrong = new ArrayList<>();
        for (String text : TEXTS) {
            try {
                call("select trunkline." + function, text);
            } catch (SQLException e) {
                if (!e.getSQLState().startsWith("TL")) {
                    wrong.add(HostileInputs.show(text) + ": " + e.getSQLState() + " " + e.getMessage());
                }
            }
        }
        assertThat(wrong).as(function).isEmpty();
    }

    @Test
    void what_was_published_is_read_as_it_was() throws SQLException {
        List<String> wrong = new ArrayList<>();
        for (String text : TEXTS) {
            if (text.getBytes(StandardCharsets.UTF_8).length > 1024) {
                continue;
            }
            cases++;
            TestDatabase.query(
                    connection,
                    "select trunkline.publish('t', ?::text, key => ?, headers => jsonb_build_object(?::text, ?::text), correlation_id => ?)",
                    text,
                    text,
                    text,
                    text,
                    text);
            connection.commit();
            trunkline.relayNow();
            boolean same = TestDatabase.query(
                            connection,
                            "select text = ? and key = ? and headers = jsonb_build_object(?::text, ?::text) and correlation_id = ?"
                                    + " from trunkline.messages where topic = 't' order by \"offset\" desc limit 1",
                            text,
                            text,
                            text,
                            text,
                            text)
                    .equals(List.of("t"));
            connection.commit();
            if (!same) {
                wrong.add(HostileInputs.show(text));
            }
        }
        for (byte[] payload : HostileInputs.payloads()) {
            cases++;
            TestDatabase.query(connection, "select trunkline.publish('t', ?::bytea)", payload);
            connection.commit();
            trunkline.relayNow();
            long last = trunkline.log().end("t", 0) - 1;
            if (!Arrays.equals(trunkline.log().read("t", 0, last, 1).getFirst().payload(), payload)) {
                wrong.add("a payload of " + payload.length + " bytes");
            }
        }
        assertThat(wrong).isEmpty();
    }
}
