package dev.trunkline.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.schema.Migrator;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Every statement in a file is one that PostgreSQL understands, and the hot ones use their index. */
class StatementsTest {

    private static final Map<String, String> FILES = Map.of(
            "dev.trunkline.topic.TopicCatalogue", "topics.sql",
            "dev.trunkline.outbox.Outbox", "outbox.sql",
            "dev.trunkline.publish.BatchingPublisher", "publisher.sql",
            "dev.trunkline.log.SegmentedLog", "log.sql",
            "dev.trunkline.upkeep.Upkeep", "upkeep.sql",
            "dev.trunkline.pull.PullTable", "pull.sql",
            "dev.trunkline.schema.Migrator", "migrator.sql");

    @Test
    void every_statement_can_be_prepared() throws Exception {
        TestDatabase database = TestDatabase.fresh();
        try (Trunkline trunkline = database.open();
                Connection connection = database.connect()) {
            trunkline.topics().create(TopicConfiguration.queue("t"));
            for (Map.Entry<String, String> file : FILES.entrySet()) {
                Statements statements = Statements.beside(Class.forName(file.getKey()), file.getValue(), "trunkline");
                assertThat(statements.all()).isNotEmpty();
                for (String name : statements.all().keySet()) {
                    try (PreparedStatement statement = connection.prepareStatement(statements.get(name, 1))) {
                        assertThat(statement.getParameterMetaData().getParameterCount())
                                .as(name)
                                .isNotNegative();
                    }
                }
            }
        }
    }

    @Test
    void reading_goes_by_the_primary_key() throws Exception {
        TestDatabase database = TestDatabase.fresh();
        try (Trunkline trunkline = database.open()) {
            trunkline.topics().create(TopicConfiguration.queue("t"));
            String read = Statements.beside(Class.forName("dev.trunkline.log.SegmentedLog"), "log.sql", "trunkline")
                    .get("read", 1);
            String plan = String.join(
                    "\n", database.query("explain " + read, 1, new Integer[] {0}, new Long[] {0L}, 10, 10, 10));
            assertThat(plan).contains("Index Scan using segment_1_pkey").doesNotContain("Sort");
        }
    }

    @Test
    void another_schema_takes_the_place_of_trunkline_everywhere() {
        assertThat(Migrator.script("other")
                        .lines()
                        .filter(line -> line.matches(".*trunkline.*"))
                        // What is listened to is called by both.
                        .filter(line -> !line.contains("'trunkline_' || 'other'"))
                        .collect(Collectors.toList()))
                .isEmpty();
        assertThatThrownBy(() -> Migrator.checkedSchema("Robert'); drop table"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(List.of("a", "trunkline", "a_1"))
                .allSatisfy(name -> assertThat(Migrator.checkedSchema(name)).isEqualTo(name));
    }
}
