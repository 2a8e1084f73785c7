package dev.trunkline.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.trunkline.BackfillConfiguration;
import dev.trunkline.Batching;
import dev.trunkline.RetryPolicy;
import dev.trunkline.Start;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigurationTest {

    @Test
    void a_builder_is_as_the_file_says() {
        Configuration configuration = Configuration.parse("""
                database:
                  url: jdbc:postgresql://pooler:6432/shop
                  user: shop
                  password: "1234"
                  directUrl: jdbc:postgresql://server/shop
                  poolSize: 12
                  schema: messaging
                leaseMs: 5000
                waitPeriodMs: 50
                shutdownHook: true
                """);

        assertThat(configuration.builder())
                .extracting("url", "user", "password", "directUrl", "poolSize", "schema")
                .containsExactly(
                        "jdbc:postgresql://pooler:6432/shop",
                        "shop",
                        "1234",
                        "jdbc:postgresql://server/shop",
                        12,
                        "messaging");
        assertThat(configuration.builder())
                .extracting("lease", "pollInterval", "shutdownHook")
                .containsExactly(Duration.ofSeconds(5), Duration.ofMillis(50), true);
    }

    @Test
    void what_is_left_out_is_as_in_the_library() {
        Configuration configuration = Configuration.parse("groups: [{topic: jobs, start: now}]");

        assertThat(configuration.builder()).usingRecursiveComparison().isEqualTo(Trunkline.builder());
        assertThat(configuration.groups())
                .containsExactly(
                        new Configuration.Group("shared", "jobs", OptionalInt.empty(), SubscriptionOptions.fromNow()));
        assertThat(Configuration.parse("{}").groups()).isEmpty();
    }

    @Test
    void every_builder_is_a_new_one() {
        Configuration configuration = Configuration.parse("database: {poolSize: 3}");
        configuration.builder().poolSize(9);
        assertThat(configuration.builder()).extracting("poolSize").isEqualTo(3);
    }

    @Test
    void a_group_is_as_the_file_says() {
        Configuration.Group group = only("""
                groupId: emails
                start: beginning
                concurrency: 7
                window: 300
                batchSize: 40
                batchUnit: work
                unitLimit: 500
                totalPartitions: 8
                partitionIds: [0, 3]
                handlerTimeoutMs: 1500
                backfill: conservative
                retry:
                  attempts: 3
                  firstDelayMs: 90000
                  longestDelayMs: 180000
                  exhausted: skip
                """);

        assertThat(group.groupId()).isEqualTo("emails");
        assertThat(group.topic()).isEqualTo("orders");
        assertThat(group.totalPartitions()).hasValue(8);
        assertThat(group.options())
                .isEqualTo(new SubscriptionOptions(
                        Start.beginning(),
                        7,
                        300,
                        new RetryPolicy(3, Duration.ofSeconds(90), Duration.ofMinutes(3), RetryPolicy.Exhausted.SKIP),
                        Duration.ofMillis(1500),
                        new Batching(Batching.Unit.WORK, 40, 500),
                        Set.of(0, 3),
                        Duration.ofMinutes(5),
                        Set.of(),
                        Optional.of(BackfillConfiguration.conservative())));
    }

    @Test
    void each_choice_and_each_part_of_a_policy_can_be_given_alone() {
        RetryPolicy standard = RetryPolicy.standard();
        assertThat(only("start: now").options()).isEqualTo(SubscriptionOptions.fromNow());
        assertThat(only("start: beginning").options()).isEqualTo(SubscriptionOptions.fromBeginning());
        assertThat(only("start: 2026-11-16T08:00:00Z\ndeadAfterMs: 60000").options())
                .isEqualTo(SubscriptionOptions.from(Start.at(Instant.parse("2026-11-16T08:00:00Z")))
                        .withDeadAfter(Duration.ofMinutes(1)));
        assertThat(only("start: now\nbatchSize: 9").options().batching()).isEqualTo(Batching.ofKey(9));
        assertThat(only("start: now\nbatchUnit: key").options().batching()).isEqualTo(Batching.single());
        assertThat(only("start: now\nbatchUnit: partition\nbatchSize: 9")
                        .options()
                        .batching())
                .isEqualTo(Batching.ofPartition(9));
        assertThat(only("start: now\nbatchUnit: work").options().batching()).isEqualTo(Batching.ofUnitsOfWork(1));
        assertThat(only("start: now\npartitionId: 1023").options().partitions()).containsExactly(1023);
        assertThat(retry("attempts: 1")).isEqualTo(new RetryPolicy(1, standard.first(), standard.longest()));
        assertThat(retry("firstDelayMs: 0")).isEqualTo(new RetryPolicy(5, Duration.ZERO, standard.longest()));
        assertThat(retry("longestDelayMs: 2000"))
                .isEqualTo(new RetryPolicy(5, standard.first(), Duration.ofSeconds(2)));
        assertThat(retry("exhausted: skip")).isEqualTo(standard.skipping());
        assertThat(retry("exhausted: park")).isEqualTo(standard);
    }

    @Test
    void placeholders_stand_for_environment_variables() {
        Map<String, String> environment = Map.of("NAME", "orders", "EMPTY", "", "SIZE", "25", "ODD", "a$1\\${NAME}");
        String yaml = """
                shutdownHook: ${HOOK:true}
                groups:
                  - {start: '${START:now}', topic: 'shop.${NAME}-${ABSENT:v2}', groupId: 'x${EMPTY:y}', batchSize: '${SIZE}'}
                  - {start: now, topic: '${ODD}', groupId: '$${NAME} for $5'}
                  - {start: now, topic: '${ABSENT:http://a:b}', groupId: 'z${ABSENT:}'}
                """;
        Configuration configuration = new Configuration(Setting.parse(yaml, environment::get));

        assertThat(configuration.builder()).extracting("shutdownHook").isEqualTo(true);
        assertThat(configuration.groups())
                .extracting(Configuration.Group::topic)
                .containsExactly("shop.orders-v2", "a$1\\${NAME}", "http://a:b");
        assertThat(configuration.groups())
                .extracting(Configuration.Group::groupId)
                .containsExactly("x", "${NAME} for $5", "z");
        assertThat(configuration.groups().getFirst().options().batching().size())
                .isEqualTo(25);
    }

    @Test
    void the_environment_is_that_of_the_process() {
        assertThat(only("start: now\ngroupId: ${PATH}").groupId()).isEqualTo(System.getenv("PATH"));
    }

    @Test
    void aliases_stand_for_what_they_name() {
        Configuration configuration = Configuration.parse("""
                groups:
                  - {topic: a, start: now, retry: &few {attempts: 2}}
                  - {topic: b, start: now, retry: *few}
                """);
        assertThat(configuration.group("shared", "b").options().retry().attempts())
                .isEqualTo(2);
    }

    @Test
    void a_group_is_found_by_its_name_or_with_its_topic() {
        Configuration configuration = Configuration.parse("""
                groups:
                  - {topic: orders, start: now, groupId: emails}
                  - {topic: orders, start: now, groupId: audit}
                  - {topic: users, start: now, groupId: audit}
                  - {topic: jobs, start: now}
                  - {topic: mails, start: now, groupId: shared}
                """);

        assertThat(configuration.group("emails").topic()).isEqualTo("orders");
        assertThat(configuration.group("audit", "users").topic()).isEqualTo("users");
        assertThat(configuration.group("shared", "mails").topic()).isEqualTo("mails");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> configuration.group("audit"))
                .withMessageContaining("has 2 groups \"audit\"")
                .withMessageContaining("\"audit\" on topic \"users\"");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> configuration.group("audit", "jobs"))
                .withMessageContaining("has 0 groups \"audit\" on topic \"jobs\", of these: [\"emails\" on topic");
    }

    @Test
    void an_error_names_the_file(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("shop.yaml"), "leaseMs: soon");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Configuration.read(file))
                .withMessageStartingWith(file + ": leaseMs must be a whole number");
    }

    @Test
    void a_file_that_can_not_be_read_is_said_so(@TempDir Path directory) throws IOException {
        Path latin = Files.write(directory.resolve("latin.yaml"), new byte[] {'a', ':', ' ', (byte) 0xe4});
        for (Path file : new Path[] {directory.resolve("absent.yaml"), directory, latin}) {
            assertThatExceptionOfType(UncheckedIOException.class)
                    .isThrownBy(() -> Configuration.read(file))
                    .withMessage("can not read " + file + ": it must be a file of UTF-8 text");
        }
    }

    @Test
    void its_text_tells_of_groups_and_of_no_password() {
        String yaml = """
                database: {url: 'jdbc:postgresql:x?password=hunter2', user: a, password: hunter2}
                groups: [{topic: orders, start: now}]
                """;
        assertThat(Configuration.parse(yaml)).asString().contains("orders").doesNotContain("hunter2");
    }

    private static RetryPolicy retry(String setting) {
        return only("start: now\nretry: {" + setting + "}").options().retry();
    }

    /** The only group of a file, on topic {@code orders}. */
    private static Configuration.Group only(String settings) {
        return Configuration.parse(
                        "groups:\n- topic: orders\n" + settings.strip().indent(2))
                .groups()
                .getFirst();
    }
}
