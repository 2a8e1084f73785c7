package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.Priority;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code trunkline dead-letters}, {@code redrive} and {@code lag}. */
class LettersTest {

    private final String database = Cli.freshDatabase();
    private final JsonMapper mapper = new JsonMapper();

    private Trunkline open() {
        return Trunkline.builder()
                .url(
                        Cli.postgres().jdbcUrl(database),
                        Cli.postgres().user(),
                        Cli.postgres().password())
                .backgroundWork(false)
                .open();
    }

    @BeforeEach
    void threeAreGivenUp() {
        try (Trunkline trunkline = open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("orders").withPartitions(1));
            PullConsumer<String> emails = trunkline.pull("emails", "orders", String.class, PullOptions.fromBeginning());
            for (int i = 0; i < 3; i++) {
                trunkline.publisher().publish(Message.of("orders", "order " + i).withKey("k" + i));
            }
            String token = emails.pop(3, Duration.ofMinutes(1)).orElseThrow().token();
            for (long offset = 0; offset < 3; offset++) {
                emails.reject(token, List.of(offset), "no such customer " + offset);
            }
            trunkline.publisher().publish(Message.of("orders", "behind").withKey("k1"));
            trunkline.publisher().publish(Message.of("orders", "free").withKey("k9"));
        }
    }

    private String out(String... arguments) {
        Cli.Result result = Cli.on(database, arguments);
        assertThat(result.code()).as(result.err()).isZero();
        return result.out();
    }

    private List<String> ids() {
        JsonNode letters = mapper.readTree(out("dead-letters", "list", "emails", "orders", "--json"));
        return letters.valueStream().map(letter -> letter.get("id").asString()).toList();
    }

    @Test
    void they_are_listed_some_at_a_time_and_shown_one_by_one() {
        List<String> ids = ids();
        assertThat(ids).hasSize(3);
        String page = out("dead-letters", "list", "emails", "orders", "--limit", "2");
        assertThat(page).contains("no such customer 0", "no such customer 1", "for more: --after " + ids.get(1));
        assertThat(out("dead-letters", "list", "emails", "orders", "--after", ids.get(1)))
                .contains("no such customer 2")
                .doesNotContain("customer 0", "for more");
        assertThat(out("dead-letters", "show", "emails", "orders", ids.get(1)))
                .contains("0@1, key k1", "order 1", "no such customer 1");
        assertThat(out("dead-letters", "show", "emails", "orders", ids.get(1), "--json"))
                .contains("\"text\":\"order 1\"", "\"history\":[");
    }

    @Test
    void nothing_in_a_message_or_an_error_tells_the_terminal_what_to_do() {
        String evil = "evil\033[2J\u009b1m\r\nforged";
        try (Trunkline trunkline = open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("evil").withPartitions(1));
            PullConsumer<String> group = trunkline.pull("g", "evil", String.class, PullOptions.fromBeginning());
            trunkline.publisher().publish(Message.of("evil", evil).withKey(evil).withHeader("h", evil));
            String token = group.pop(1, Duration.ofMinutes(1)).orElseThrow().token();
            group.reject(token, List.of(0L), evil);
        }
        String id = mapper.readTree(out("dead-letters", "list", "g", "evil", "--json"))
                .at("/0/id")
                .asString();
        for (List<String> command : List.of(
                List.of("tail", "evil", "--from-beginning", "--count", "1"),
                List.of("consume", "evil", "--group", "other", "--from", "beginning", "--count", "1"),
                List.of("dead-letters", "list", "g", "evil"),
                List.of("dead-letters", "show", "g", "evil", id),
                List.of("explain", "g", "evil", "0@0"))) {
            assertThat(out(command.toArray(String[]::new)))
                    .as("%s", command)
                    .doesNotContain("\033", "\u009b", "\r")
                    .doesNotContain("\nforged");
        }
        assertThat(out("tail", "evil", "--from-beginning", "--count", "1"))
                .contains("evil\\u001b[2J\\u009b1m\\r\\nforged");
        assertThat(mapper.readTree(out("tail", "evil", "--from-beginning", "--count", "1", "--json"))
                        .get("text")
                        .asString())
                .isEqualTo(evil);
    }

    @Test
    void they_are_redriven_by_number_or_all_and_told_before_what_that_does() {
        List<String> ids = ids();
        assertThat(out("redrive", "emails", "orders", "--all", "--dry-run"))
                .contains("3 dead letters would be redriven; 3 keys would go on");
        assertThat(out("redrive", "emails", "orders", ids.get(0), "--dry-run", "--json"))
                .contains("\"deadLetters\":1");
        assertThat(ids()).isEqualTo(ids);
        assertThat(out("redrive", "emails", "orders", ids.get(0))).contains("1 dead letters are to be redriven");
        StringWriter shown = new StringWriter();
        Cli.Result all = Cli.run(
                new Terminal(true, false, () -> 80), shown, Cli.at(database, "redrive", "emails", "orders", "--all"));
        assertThat(shown.toString()).contains("3 dead letters are to be redriven");
        assertThat(all.err()).contains("3 of 3 dead letters");
        assertThat(out("consume", "orders", "--group", "emails", "--count", "5"))
                .contains("order 0", "order 1", "order 2", "behind", "free");
        assertThat(ids()).isEmpty();
    }

    @Test
    void the_place_of_one_tells_its_level() {
        try (Trunkline trunkline = open()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.pubSub("mail").withPartitions(1).withPriorityLevels(true));
            PullConsumer<String> group = trunkline.pull("g", "mail", String.class, PullOptions.fromBeginning());
            trunkline.publisher().publish(Message.of("mail", "urgent").withPriority(Priority.HIGH));
            String token = group.pop(1, Duration.ofMinutes(1)).orElseThrow().token();
            group.reject(token, List.of(0L), "too bad");
        }
        assertThat(out("dead-letters", "list", "g", "mail")).contains(" 0@0/HIGH ");
        JsonNode letter = mapper.readTree(out("dead-letters", "list", "g", "mail", "--json"))
                .get(0);
        assertThat(letter.get("priority").asString()).isEqualTo("HIGH");
        assertThat(out("dead-letters", "show", "g", "mail", letter.get("id").asString()))
                .contains("0@0/HIGH");
    }

    @Test
    void those_of_a_cancelled_group_are_not_those_of_another_with_its_name() {
        List<String> ids = ids();
        out("groups", "cancel", "emails", "orders");
        for (String[] command : new String[][] {
            {"dead-letters", "list", "emails", "orders"},
            {"dead-letters", "show", "emails", "orders", ids.get(0)},
            {"redrive", "emails", "orders", "--all"}
        }) {
            Cli.Result result = Cli.on(database, command);
            assertThat(result.code()).as("%s", (Object) command).isEqualTo(1);
            assertThat(result.err()).hasLineCount(1).contains("cancelled");
        }
        try (Trunkline trunkline = open()) {
            trunkline.pull("emails", "orders", String.class, PullOptions.fromBeginning());
        }
        assertThat(ids()).isEmpty();
        assertThat(out("redrive", "emails", "orders", "--all")).contains("0 dead letters");
        assertThat(Cli.on(database, "dead-letters", "show", "emails", "orders", ids.get(0))
                        .code())
                .isEqualTo(1);
    }

    @Test
    void they_are_discarded() {
        List<String> ids = ids();
        assertThat(out("dead-letters", "discard", "emails", "orders", ids.get(1), ids.get(2), "--json"))
                .contains("{\"decided\":2}");
        assertThat(out("consume", "orders", "--group", "emails", "--count", "2"))
                .contains("behind", "free");
        assertThat(ids()).containsExactly(ids.get(0));
    }

    @Test
    void what_is_wrong_is_told_in_one_line() {
        for (String[] wrong : new String[][] {
            {"dead-letters", "list", "nobody", "orders"},
            {"dead-letters", "list", "emails", "nothing"},
            {"dead-letters", "show", "emails", "orders", "99999"},
            {"dead-letters", "discard", "emails", "orders", "99999"},
            {"redrive", "emails", "orders", "99999"},
            {"redrive", "nobody", "orders", "--all"},
            {"lag", "nobody"},
            {"lag", "emails", "nothing"},
            {"consume", "nothing"},
            {"consume", "orders"},
            {"verify", "nothing"}
        }) {
            Cli.Result result = Cli.on(database, wrong);
            assertThat(result.code()).as("%s", (Object) wrong).isEqualTo(1);
            assertThat(result.err()).startsWith("trunkline: ").hasLineCount(1);
        }
        for (String[] wrong : new String[][] {
            {"dead-letters"},
            {"dead-letters", "list", "emails", "orders", "--limit", "0"},
            {"dead-letters", "show", "emails", "orders", "x"},
            {"redrive", "emails", "orders"},
            {"redrive", "emails", "orders", "1", "--all"},
            {"lag", "--watch", "PT0S"},
            {"consume", "orders", "--from", "yesterday"},
            {"doctor", "--patience", "soon"},
            {"doctor", "--patience", "PT-1S"}
        }) {
            assertThat(Cli.on(database, wrong).code()).as("%s", (Object) wrong).isEqualTo(2);
        }
    }

    @Test
    void lag_is_told_in_messages_and_seconds_and_by_partition() {
        assertThat(out("lag")).containsPattern("emails +orders +2 +0 +\\d+\\.\\d");
        assertThat(out("lag", "emails", "--partitions"))
                .containsPattern("emails +orders +0 +0 +3 +5 +2 +0 +\\d+\\.\\d");
        JsonNode lag = mapper.readTree(out("lag", "emails", "orders", "--partitions", "--json"));
        assertThat(lag.get(0).get("pending").asLong()).isEqualTo(2);
        assertThat(lag.get(0).get("seconds").asDouble()).isNotNegative();
        assertThat(lag.get(0).get("partitions").get(0).get("end").asLong()).isEqualTo(5);
        out("consume", "orders", "--group", "emails", "--count", "1");
        // What waits behind a dead letter is parked: in the log it is done, for the group it is not.
        lag = mapper.readTree(out("lag", "emails", "orders", "--json"));
        assertThat(lag.get(0).get("pending").asLong()).isZero();
        assertThat(lag.get(0).get("parked").asLong()).isOne();
        assertThat(lag.get(0).get("seconds").asDouble()).isPositive();
        out("dead-letters", "discard", "emails", "orders", "--all");
        out("consume", "orders", "--group", "emails", "--count", "1");
        assertThat(out("lag", "--json")).contains("\"pending\":0,\"parked\":0,\"seconds\":null");
    }

    @Test
    void lag_is_told_again_and_again_until_it_is_stopped() throws InterruptedException {
        StringWriter shown = new StringWriter();
        Thread watching =
                Thread.ofPlatform().start(() -> Cli.run(shown, Cli.at(database, "lag", "--watch", "PT0.01S")));
        Awaitility.await()
                .atMost(2, TimeUnit.MINUTES)
                .until(() -> shown.toString().split("GROUP", -1).length > 3);
        watching.interrupt();
        watching.join();
    }
}
