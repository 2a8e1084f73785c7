package dev.trunkline.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.LogMessage;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
            create_topic('t'); TL006; there is a topic "t" already
            create_topic(''); TL005; 1 to 255 characters
            create_topic(E'a\\tb'); TL005; no control characters
            create_topic('x', partitions => 0); TL005; partitions
            create_topic('x', semantics => 'BOTH'); TL005; semantics
            drop_topic('nope'); TL001; there is no topic
            alter_topic('nope'); TL001; there is no topic
            alter_topic('t', retention => '-1 day'); TL005; retention
            set_unconfigured_topics('MAYBE'); TL005; REFUSE or QUEUE
            """)
    void bad_input_gets_a_code_and_a_clear_text(String call, String code, String text) {
        assertThatThrownBy(() -> database.query("select trunkline." + call))
                .hasMessageContaining(text)
                .cause()
                .hasFieldOrPropertyWithValue("SQLState", code);
        assertThat(database.number("select count(*) from trunkline.outbox")).isZero();
    }
}
