package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class TopicsTest {

    private final JsonMapper mapper = new JsonMapper();
    private final String database = Cli.freshDatabase();

    @BeforeEach
    void migrate() {
        assertThat(Cli.on(database, "migrate").code()).isZero();
    }

    @Test
    void a_topic_is_created_listed_altered_and_dropped() {
        Cli.Result created = Cli.on(
                database,
                "topics",
                "create",
                "orders",
                "--semantics",
                "pub_sub",
                "--partitions",
                "3",
                "--retention",
                "P2D");
        assertThat(created.code()).as(created.err()).isZero();
        assertThat(created.out()).isEqualToIgnoringNewLines("created topic orders");
        assertThat(Cli.on(database, "topics", "list").out()).containsPattern("orders +PUB_SUB +ORDERED +3 +3 +PT48H");

        Cli.Result altered = Cli.on(database, "topics", "alter", "orders", "--retention", "PT1H", "--task", "pack");
        assertThat(altered.code()).as(altered.err()).isZero();
        JsonNode topic = list().get(0);
        assertThat(topic.get("retention").asString()).isEqualTo("PT1H");
        assertThat(topic.get("task").asString()).isEqualTo("pack");
        assertThat(topic.get("semantics").asString()).isEqualTo("PUB_SUB");
        assertThat(topic.get("partitions").asInt()).isEqualTo(3);

        assertThat(Cli.on(database, "topics", "drop", "orders", "--json").out())
                .isEqualToIgnoringNewLines("{\"dropped\":\"orders\"}");
        assertThat(list()).isEmpty();
    }

    @Test
    void what_is_not_possible_exits_1_with_one_line() {
        Cli.on(database, "topics", "create", "orders");
        for (String[] wrong : new String[][] {
            {"topics", "create", "orders"},
            {"topics", "alter", "nothing", "--retention", "PT1H"},
            {"topics", "drop", "nothing"},
            {"publish", "nothing", "x"},
            {"tail", "nothing"}
        }) {
            Cli.Result result = Cli.on(database, wrong);
            assertThat(result.code()).as("%s", (Object) wrong).isEqualTo(1);
            assertThat(result.err()).startsWith("trunkline: ").hasLineCount(1);
        }
    }

    @Test
    void values_that_are_not_possible_exit_2_with_one_line() {
        Cli.on(database, "topics", "create", "orders");
        for (String[] wrong : new String[][] {
            {"topics", "create", "other", "--partitions", "0"},
            {"topics", "create", "other", "--retention", "PT0S"},
            {"topics", "create", "other", "--hard-cap", "PT0S"},
            {"topics", "create", ""},
            {"topics", "alter", "orders", "--partitions", "5"},
            {"topics", "list", "--schema", "No"},
            {"publish", "orders", "x", "--key", "a\u0000b"}
        }) {
            Cli.Result result = Cli.on(database, wrong);
            assertThat(result.code()).as("%s: %s", wrong, result.err()).isEqualTo(2);
            assertThat(result.err()).startsWith("trunkline: ").hasLineCount(1);
        }
    }

    @Test
    void what_a_topic_keeps_for_groups_that_do_not_come_can_be_set() {
        Cli.Result created = Cli.on(
                database,
                "topics",
                "create",
                "orders",
                "--semantics",
                "pub_sub",
                "--hard-cap",
                "P9D",
                "--refuse-unheard");
        assertThat(created.code()).as(created.err()).isZero();
        assertThat(list().get(0).get("keeping").toString())
                .isEqualTo(
                        "{\"unheard\":\"PT24H\",\"refuseUnheard\":true,\"zombieTtl\":\"PT168H\",\"hardCap\":\"PT216H\"}");
        Cli.Result altered = Cli.on(
                database,
                "topics",
                "alter",
                "orders",
                "--unheard",
                "PT1H",
                "--zombie-ttl",
                "PT2H",
                "--refuse-unheard=false");
        assertThat(altered.code()).as(altered.err()).isZero();
        assertThat(list().get(0).get("keeping").toString())
                .isEqualTo(
                        "{\"unheard\":\"PT1H\",\"refuseUnheard\":false,\"zombieTtl\":\"PT2H\",\"hardCap\":\"PT216H\"}");
    }

    private JsonNode list() {
        return mapper.readTree(Cli.on(database, "topics", "list", "--json").out());
    }
}
