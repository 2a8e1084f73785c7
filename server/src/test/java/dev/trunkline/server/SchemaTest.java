package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.ChildJvm;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SchemaTest {

    @ParameterizedTest
    @ValueSource(strings = {"trunkline", "messages"})
    void what_schema_prints_makes_a_fresh_database_ready(String schema) throws Exception {
        String database = Cli.freshDatabase();
        Cli.Result printed = Cli.run("schema", "--schema", schema);
        assertThat(printed.code()).isZero();
        try (Connection connection = Cli.postgres().dataSource(database).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(printed.out());
        }

        try (Trunkline trunkline = Trunkline.builder()
                .dataSource(Cli.postgres().dataSource(database))
                .schema(schema)
                .migrate(false)
                .backgroundWork(false)
                .open()) {
            trunkline.topics().create(TopicConfiguration.queue("orders"));
            assertThat(trunkline.publisher().publish(Message.of("orders", "x")).offset())
                    .hasValue(0);
        }
    }

    @Test
    void its_name_can_come_from_the_environment() {
        try (ChildJvm child =
                ChildJvm.start(List.of(), Main.class, Map.of("TRUNKLINE_SCHEMA", "from_outside"), "schema")) {
            StringBuilder script = new StringBuilder();
            for (String line = child.readLine(); line != null; line = child.readLine()) {
                script.append(line).append('\n');
            }
            assertThat(script.toString()).contains("create table from_outside.topic ");
        }
    }

    @Test
    void migrate_says_the_version_and_may_run_again() {
        String database = Cli.freshDatabase();
        Cli.Result first = Cli.on(database, "migrate");
        assertThat(first.code()).as(first.err()).isZero();
        assertThat(first.out()).matches("schema trunkline is at version \\d+, the newest\\R");
        assertThat(Cli.on(database, "migrate")).isEqualTo(first);
        assertThat(Cli.on(database, "migrate", "--schema", "other").out()).startsWith("schema other is at version");
    }

    @Test
    void a_schema_name_that_can_not_be_one_is_refused() {
        Cli.Result result = Cli.run("schema", "--schema", "no\"good");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).hasLineCount(1).contains("a-z");
    }
}
