package dev.trunkline.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** From a file to handled messages. */
@Timeout(300)
class ConsumingByFileTest {

    record Order(int number) {}

    @TempDir
    Path directory;

    private final EmbeddedPostgres postgres =
            EmbeddedPostgres.temporary().unsafeFast().start();
    private Connection connection;

    @BeforeEach
    void connect() throws SQLException {
        connection = DriverManager.getConnection(postgres.jdbcUrl(), postgres.user(), postgres.password());
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
        postgres.close();
    }

    @Test
    void two_processes_consume_as_their_files_say() throws Exception {
        execute("create table effect (process text, partition int, transaction xid8 default pg_current_xact_id())");
        Queue<Integer> jobs = new ConcurrentLinkedQueue<>();
        Configuration first = file("partitionIds: [0, 3]");
        Configuration second = file("partitionIds: [1, 2]");
        try (Trunkline one = first.builder().open();
                Trunkline two = second.builder().open()) {
            one.topics().create(TopicConfiguration.pubSub("orders").withPartitions(4));
            one.topics().create(TopicConfiguration.queue("jobs"));
            for (int i = 0; i < 100; i++) {
                one.publisher().publish(Message.of("orders", new Order(i)).withKey("customer-" + i));
            }
            one.publisher().publish(Message.of("jobs", new Order(7)));

            start(first, one, "one");
            start(second, two, "two");
            Configuration.Group queue = first.group("shared");
            queue.create(one, Order.class)
                    .addConsumer(
                            "worker", delivery -> jobs.add(delivery.payload().number()))
                    .start(queue.options());

            await().atMost(Duration.ofSeconds(60)).until(() -> number("select count(*) from effect") == 100);
            await().atMost(Duration.ofSeconds(60)).until(() -> jobs.contains(7));
            assertThat(text("select string_agg(distinct partition::text, ' ' order by partition::text) from effect"
                            + " where process = 'one'"))
                    .isEqualTo("0 3");
            assertThat(
                            number(
                                    "select count(distinct partition) from effect where process = 'two' and partition in (1, 2)"))
                    .isEqualTo(2);
            assertThat(number("select count(distinct transaction) from effect")).isLessThan(100);
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> number("select count(*) from pg_stat_activity where application_name = 'direct'") > 0);
            assertThat(number("select count(*) from messaging.topic")).isEqualTo(2);
        }
    }

    @Test
    void a_topic_with_another_number_of_partitions_is_refused_with_both_numbers() throws IOException {
        Configuration configuration = file("totalPartitions: 8");
        try (Trunkline trunkline = configuration.builder().open()) {
            Configuration.Group group = configuration.group("emails");
            assertThatExceptionOfType(UnknownTopicException.class)
                    .isThrownBy(() -> group.create(trunkline, Order.class))
                    .withMessageContaining("\"orders\"");

            trunkline.topics().create(TopicConfiguration.pubSub("orders").withPartitions(4));
            assertThatExceptionOfType(ConsumerGroupException.class)
                    .isThrownBy(() -> group.create(trunkline, Order.class))
                    .withMessageContaining(
                            "\"emails\" on topic \"orders\" has totalPartitions: 8, but the topic has 4");

            trunkline.topics().drop("orders");
            trunkline.topics().create(TopicConfiguration.pubSub("orders").withPartitions(8));
            assertThat(group.create(trunkline, Order.class).name()).isEqualTo("emails");
        }
    }

    private void start(Configuration configuration, Trunkline trunkline, String process) {
        Configuration.Group group = configuration.group("emails");
        group.create(trunkline, Order.class)
                .addTransactionalConsumer("mailer", (delivery, handlers) -> {
                    try (PreparedStatement insert =
                            handlers.prepareStatement("insert into effect (process, partition) values (?, ?)")) {
                        insert.setString(1, process);
                        insert.setInt(2, delivery.message().partition());
                        insert.executeUpdate();
                    }
                })
                .start(group.options());
    }

    /** A file with a group of orders, of which one setting is given, and a queue of jobs. */
    private Configuration file(String setting) throws IOException {
        String url = postgres.jdbcUrl();
        Path file = Files.createTempFile(directory, "trunkline", ".yaml");
        Files.writeString(file, """
                database:
                  url: '%s'
                  user: '%s'
                  password: '%s'
                  directUrl: '%s'
                  schema: messaging
                waitPeriodMs: 100
                groups:
                  - groupId: emails
                    topic: ${TRUNKLINE_TEST_TOPIC:orders}
                    start: beginning
                    batchSize: 20
                    batchUnit: partition
                    %s
                  - topic: jobs
                    start: beginning
                """.formatted(
                        url,
                        postgres.user(),
                        postgres.password(),
                        url + (url.contains("?") ? "&" : "?") + "ApplicationName=direct",
                        setting));
        return Configuration.read(file);
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private long number(String sql) throws SQLException {
        return Long.parseLong(text(sql));
    }

    private String text(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
