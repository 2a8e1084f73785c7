package dev.trunkline.testing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Event.Content;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.checker.Journal;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the checker is told is what is there. */
class VerdictTest {

    @TempDir
    Path journals;

    private final TestDatabase database = TestDatabase.fresh();
    private final Trunkline trunkline = database.open();
    private Journal journal;

    @BeforeEach
    void publish() {
        Load.createBusinessTable(database);
        trunkline.topics().create(TopicConfiguration.queue("orders").withPartitions(1));
        journal = Journal.create(journals, "test");
        for (String value : List.of("a", "b", "c")) {
            trunkline.publisher().publish(Message.of("orders", value));
            told(Way.PUBLISH, value, Outcome.OK);
        }
    }

    @AfterEach
    void close() {
        journal.close();
        trunkline.close();
    }

    private void told(Way way, String value, Outcome outcome) {
        journal.end(journal.publish(way, "orders", List.of(new Content(null, value))), outcome);
    }

    private void verdict() throws SQLException {
        Verdict.on(trunkline, database.dataSource(), "orders", journals, "a test");
    }

    private String segment() {
        return "trunkline.segment_" + database.number("select max(id) from trunkline.segment");
    }

    @Test
    void what_is_well_passes() throws SQLException {
        verdict();
    }

    @Test
    void what_is_lost_is_found() {
        told(Way.PUBLISH, "lost", Outcome.OK);
        assertThatThrownBy(this::verdict).hasMessageContaining("\"lost\" was acknowledged and is nowhere");
    }

    @Test
    void business_without_its_message_is_found() {
        told(Way.WORK, "work", Outcome.UNKNOWN);
        database.execute("insert into business values ('work')");
        assertThatThrownBy(this::verdict).hasMessageContaining("\"work\" has its row of business and no message");
    }

    @Test
    void a_hole_is_found() {
        database.execute("update " + segment() + " set last_offset = 9 where last_offset = 2");
        assertThatThrownBy(this::verdict).hasMessageContaining("orders/0 has nothing at 2 to 8");
    }

    @Test
    void what_lies_before_the_first_offset_is_found() {
        database.execute("update " + segment() + " set last_offset = -5 where last_offset = 2");
        assertThatThrownBy(this::verdict).hasMessageContaining("before the first offset");
    }

    @Test
    void what_was_dropped_and_comes_back_is_found() {
        Verdict.saw(journal, Logs.all(trunkline, "orders"));
        database.query("select trunkline.roll_segment(id) from trunkline.topic");
        database.query(
                "select trunkline.drop_segment(t.id, (select s.bases from trunkline.segment s order by s.id desc limit 1)) from trunkline.topic t");
        trunkline.publisher().publish(Message.of("orders", "b"));
        assertThatThrownBy(this::verdict).hasMessageContaining("\"b\" is at orders/0@1 and at orders/0@3");
    }

    @Test
    void what_lies_twice_at_its_place_is_found() {
        String segment = segment();
        for (String index : database.query(
                "select indexrelid::regclass from pg_index where indrelid = '" + segment + "'::regclass")) {
            database.execute("alter table " + segment + " drop constraint if exists " + index.replaceAll(".*\\.", ""));
        }
        database.execute("insert into " + segment + " select * from " + segment + " where last_offset = 1");
        assertThatThrownBy(this::verdict).hasMessageContaining("what lies where");
    }
}
