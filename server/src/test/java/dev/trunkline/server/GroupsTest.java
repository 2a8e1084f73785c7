package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicPattern;
import dev.trunkline.Trunkline;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GroupsTest {

    private final String database = Cli.freshDatabase();
    private long first;
    private long last;

    @BeforeEach
    void aGroupHasDoneThreeOfFour() {
        // Without background work what is published is in the log at once, where a pop that does not wait finds it.
        try (Trunkline trunkline = Trunkline.builder()
                .url(
                        Cli.postgres().jdbcUrl(database),
                        Cli.postgres().user(),
                        Cli.postgres().password())
                .backgroundWork(false)
                .open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("orders").withPartitions(1));
            for (int i = 0; i < 4; i++) {
                last = trunkline
                        .publisher()
                        .publish(Message.of("orders", "order " + i).withKey("k"))
                        .id();
                first = i == 0 ? last : first;
            }
            PullConsumer<String> emails = trunkline.pull("emails", "orders", String.class, PullOptions.fromBeginning());
            emails.ack(emails.pop(3, Duration.ofMinutes(1)).orElseThrow().token());
        }
    }

    private String out(String... arguments) {
        Cli.Result result = Cli.on(database, arguments);
        assertThat(result.code()).as(result.err()).isZero();
        return result.out();
    }

    @Test
    void groups_are_listed_paused_resumed_completed_and_cancelled() {
        assertThat(out("groups")).containsPattern("emails +orders +HEALTHY +0 +1 +0 +0 +0");
        assertThat(out("groups", "--json")).contains("\"pending\":1");
        out("groups", "pause", "emails", "orders");
        assertThat(out("groups")).contains("PAUSED");
        out("groups", "resume", "emails", "orders");
        assertThat(out("groups", "complete", "emails", "orders")).contains("1 messages");
        assertThat(out("groups", "gaps", "emails", "orders")).contains("partition 0: offsets 3 up to 4, FORCED");
        out("groups", "cancel", "emails", "orders");
        assertThat(out("groups")).contains("CANCELLED");
    }

    @Test
    void what_a_change_has_made_of_a_group_is_told_as_json() {
        assertThat(out("groups", "pause", "emails", "orders", "--json")).contains("\"status\":\"PAUSED\"");
        assertThat(out("groups", "resume", "emails", "orders", "--json")).contains("\"status\":\"ACTIVE\"");
        assertThat(out("groups", "complete", "emails", "orders", "--json"))
                .isEqualToIgnoringNewLines("{\"completed\":1}");
        assertThat(out("groups", "cancel", "emails", "orders", "--json")).contains("\"status\":\"CANCELLED\"");
        assertThat(out("groups", "resurrect", "--help")).contains("--json");
    }

    @Test
    void messages_at_different_levels_of_a_partition_have_different_places() {
        out("topics", "create", "mail", "--semantics", "pub_sub", "--partitions", "1", "--priority-levels");
        assertThat(out("publish", "mail", "calm")).contains("partition 0 at offset 0");
        assertThat(out("publish", "mail", "urgent", "--priority", "HIGH")).contains("partition 0/HIGH at offset 0");
        out("publish", "mail", "whenever", "--priority", "LOW");
        assertThat(out("tail", "mail", "--from-beginning", "--count", "3").lines())
                .anyMatch(line -> line.contains("  0@0  ") && line.endsWith("calm"))
                .anyMatch(line -> line.contains("  0@0/HIGH  ") && line.endsWith("urgent"))
                .anyMatch(line -> line.contains("  0@0/LOW  ") && line.endsWith("whenever"));
        out("consume", "mail", "--group", "g", "--from", "beginning", "--count", "3");
        out("publish", "mail", "urgent, too", "--priority", "HIGH");
        assertThat(out("explain", "g", "mail", "0@0/high")).contains("priority HIGH", "done");
        assertThat(out("explain", "g", "mail", "0@1/HIGH")).contains("priority HIGH", "waiting");
        assertThat(out("explain", "g", "mail", "0@0")).contains("done").doesNotContain("priority");
        assertThat(out("explain", "g", "mail", "0@0/LOW")).contains("priority LOW", "done");
        assertThat(out("seek", "g", "mail", "beginning", "--dry-run"))
                .contains("partition 0: from 1 to 0", "partition 0/HIGH: from 1 to 0", "partition 0/LOW: from 1 to 0");
        out("groups", "complete", "g", "mail");
        assertThat(out("groups", "gaps", "g", "mail"))
                .contains("partition 0/HIGH: offsets 1 up to 2")
                .doesNotContain("LOW", "partition 0:");
    }

    @Test
    void a_group_is_moved_and_told_before_what_that_does() {
        assertThat(out("seek", "emails", "orders", "offset:1", "--dry-run"))
                .contains("from 3 to 1, 2 handled again, 0 passed over");
        assertThat(out("groups", "--json")).contains("\"pending\":1");
        assertThat(out("seek", "emails", "orders", "offset:1")).contains("in all: 2 messages handled again");
        assertThat(out("groups", "--json")).contains("\"pending\":3");
        assertThat(out("seek", "emails", "orders", "now", "--json")).contains("\"skipped\":3");
    }

    @Test
    void a_message_is_explained_by_its_id_and_by_its_place() {
        assertThat(out("explain", "emails", "orders", "0@0")).contains("done");
        assertThat(out("explain", "emails", "orders", Long.toString(last)))
                .contains("offset 3")
                .contains("waiting")
                .contains("done this partition up to 3");
        assertThat(out("explain", "emails", "orders", "0@99")).contains("not in the log");
    }

    @Test
    void it_is_told_who_has_handled_a_message_and_who_is_missing() {
        assertThat(out("audit", "orders", Long.toString(last))).containsPattern("emails +NOT_YET +missing");
        assertThat(out("audit", "orders", Long.toString(first))).containsPattern("emails +DONE +20");
        assertThat(out("audit", "orders", Long.toString(last), "--json")).contains("\"missing\":true");
    }

    @Test
    void a_group_is_stopped_in_its_history_and_goes_on() {
        try (Trunkline trunkline = Trunkline.open(
                Cli.postgres().jdbcUrl(database),
                Cli.postgres().user(),
                Cli.postgres().password())) {
            CountDownLatch over = new CountDownLatch(1);
            trunkline
                    .createConsumerGroup(
                            "bills",
                            TopicPattern.name("ord*"),
                            String.class,
                            group -> group.addConsumer("never", delivery -> over.await()))
                    .start(SubscriptionOptions.fromBeginning());
            assertThat(out("groups", "wildcards")).containsPattern("bills +name ord\\* +1");
            assertThat(out("groups", "catch-up", "bills", "orders")).contains("running: 0 of 4 messages");
            assertThat(out("groups", "catch-up", "bills", "orders", "cancel")).contains("cancelled: 0 of 4 messages");
            assertThat(out("groups", "catch-up", "bills", "orders", "resume")).contains("running: 0 of 4 messages");
            assertThat(out("groups", "catch-up", "bills", "orders", "skip")).contains("done: 4 of 4 messages");
            over.countDown();
        }
    }

    @Test
    void what_is_wrong_is_told_in_one_line() {
        for (String[] wrong : new String[][] {
            {"seek", "nobody", "orders", "now"},
            {"seek", "emails", "nothing", "now"},
            {"seek", "emails", "orders", "offset:9"},
            {"groups", "resume", "emails", "orders"},
            {"groups", "catch-up", "emails", "orders", "cancel"},
            {"groups", "catch-up", "emails", "orders", "resume"},
            {"audit", "orders", "1"},
            {"audit", "nothing", "1"},
            {"explain", "nobody", "orders", "1"}
        }) {
            Cli.Result result = Cli.on(database, wrong);
            assertThat(result.code()).as("%s", (Object) wrong).isEqualTo(1);
            assertThat(result.err()).startsWith("trunkline: ").hasLineCount(1);
        }
        for (String[] wrong : new String[][] {
            {"seek", "emails", "orders", "yesterday"},
            {"seek", "emails", "orders", "2026-11-16T08:00:00"},
            {"seek", "emails", "orders", "now", "--partition", "0"},
            {"groups", "resurrect", "emails", "orders", "--most", "5", "--without-history"},
            {"groups", "resurrect", "emails", "orders", "--most", "0"},
            {"groups", "catch-up", "emails", "orders", "perhaps"},
            {"audit", "orders", "x"},
            {"explain", "emails", "orders", "x"},
            {"explain", "emails", "orders", "0@0/SOON"}
        }) {
            assertThat(Cli.on(database, wrong).code()).as("%s", (Object) wrong).isEqualTo(2);
        }
    }
}
