package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.Message;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Journal;
import dev.trunkline.rig.FaultProxy;
import dev.trunkline.rig.FaultProxy.Fate;
import dev.trunkline.testing.Load;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import dev.trunkline.testing.Verdict;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** F9: P8 and the rest, when the line between publisher and server is bad. */
@Tag("fault")
class ConnectionCutTest {

    private static final List<Fate> FATES = List.copyOf(EnumSet.allOf(Fate.class));

    @TempDir
    Path journals;

    private final TestDatabase database = TestDatabase.fresh();
    private final FaultProxy proxy = new FaultProxy(database.server().port());
    private final HikariDataSource pool = new HikariDataSource(lineWithTimeouts());

    private HikariConfig lineWithTimeouts() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(proxy.jdbcUrl(database.name()));
        config.setUsername(database.server().user());
        config.setPassword(database.server().password());
        config.setMaximumPoolSize(8);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(10_000);
        // Longer than an answer that does come takes on a slow machine.
        config.addDataSourceProperty("socketTimeout", "5");
        config.addDataSourceProperty("connectTimeout", "10");
        return config;
    }

    @BeforeEach
    void prepare() {
        try (Trunkline trunkline = database.open()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.queue("orders").withPartitions(4).withLanes(2));
        }
    }

    @AfterEach
    void close() {
        pool.close();
        proxy.close();
    }

    private Trunkline open() {
        return Trunkline.builder().dataSource(pool).backgroundWork(false).open();
    }

    @ParameterizedTest
    @EnumSource
    void without_an_idempotency_key_a_lost_publish_is_unknown_and_never_sent_again(Fate fate) {
        try (Trunkline trunkline = open()) {
            proxy.trap("lost-key", fate);
            assertThatThrownBy(() -> trunkline
                            .publisher()
                            .publish(Message.of("orders", "lost").withKey("lost-key")))
                    .isInstanceOf(OutcomeUnknownException.class);
            assertThat(proxy.trapped()).isOne();

            trunkline.publisher().publish(Message.of("orders", "next").withKey("next-key"));
            trunkline.relayNow();
            assertThat(Logs.texts(trunkline, "orders"))
                    .containsExactlyInAnyOrder(fate.isHeard() ? new String[] {"lost", "next"} : new String[] {"next"});
        }
    }

    @ParameterizedTest
    @EnumSource
    void with_an_idempotency_key_a_lost_publish_is_sent_again_and_is_one_message(Fate fate) {
        try (Trunkline trunkline = open()) {
            proxy.trap("lost-key", fate);
            Receipt receipt =
                    trunkline.publisher().publish(Message.of("orders", "once").withIdempotencyKey("lost-key"));
            assertThat(proxy.trapped()).isOne();

            trunkline.relayNow();
            assertThat(Logs.all(trunkline, "orders")).singleElement().satisfies(message -> {
                assertThat(message.text()).isEqualTo("once");
                assertThat(message.id()).isEqualTo(receipt.id());
            });
            assertThat(trunkline
                            .publisher()
                            .publish(Message.of("orders", "again").withIdempotencyKey("lost-key"))
                            .duplicate())
                    .isTrue();
        }
    }

    @Test
    void a_batch_with_idempotency_keys_whose_reply_is_lost_is_one_batch() {
        try (Trunkline trunkline = open()) {
            proxy.trap("lost-key-2", Fate.REPLY_CUT);
            List<Receipt> receipts = trunkline
                    .publisher()
                    .publishAll(List.of(
                            Message.of("orders", "a").withIdempotencyKey("lost-key-1"),
                            Message.of("orders", "b").withIdempotencyKey("lost-key-2"),
                            Message.of("orders", "c").withKey("k").withIdempotencyKey("lost-key-3")));
            assertThat(proxy.trapped()).isOne();

            trunkline.relayNow();
            assertThat(receipts).hasSize(3);
            assertThat(Logs.texts(trunkline, "orders")).containsExactlyInAnyOrder("a", "b", "c");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_transaction_whose_commit_is_lost_and_that_is_repeated_with_its_idempotency_key_is_one_message(Fate fate)
            throws SQLException {
        try (Trunkline trunkline = open()) {
            assertThatThrownBy(() -> publishAndCommit(trunkline, fate)).isInstanceOf(SQLException.class);
            assertThat(proxy.trapped()).isOne();

            try (Connection connection = database.connect()) {
                connection.setAutoCommit(false);
                trunkline.publisher().publish(connection, paid());
                connection.commit();
            }
            trunkline.relayNow();
            assertThat(Logs.texts(trunkline, "orders")).containsExactly("paid");
            assertThat(trunkline.publisher().publish(paid()).duplicate()).isTrue();
        }
    }

    private void publishAndCommit(Trunkline trunkline, Fate fate) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            trunkline.publisher().publish(connection, paid());
            proxy.trap("COMMIT", fate);
            connection.commit();
        }
    }

    private static Message paid() {
        return Message.of("orders", "paid").withKey("customer").withIdempotencyKey("order-1");
    }

    @Test
    void promises_hold_on_a_line_that_breaks_again_and_again() throws SQLException {
        long seed = Seed.next();
        Random random = new Random(seed);
        Journal journal = Journal.create(journals, "load");
        Load.createBusinessTable(database);
        try (Trunkline trunkline = Trunkline.builder().dataSource(pool).open();
                Load load = new Load(trunkline, pool, "orders", journal, seed)) {
            load.start(4);
            for (int i = 0; i < 15; i++) {
                load.awaitMore(20);
                proxy.delay(Duration.ofMillis(random.nextInt(3)));
                if (random.nextInt(3) == 0) {
                    proxy.cutNow();
                } else {
                    Fate fate = FATES.get(random.nextInt(FATES.size()));
                    proxy.trap(random.nextBoolean() ? "orders" : "COMMIT", fate);
                }
            }
            proxy.delay(Duration.ZERO);
            load.awaitMore(20);
            load.stop();
            Verdict.on(trunkline, database.dataSource(), "orders", journals, "seed " + seed);
            assertThat(load.surprises()).as("seed " + seed).isEmpty();
        }
    }

    @Test
    @Tag("long")
    void a_lost_publish_stays_unknown_when_the_server_can_not_be_reached_again() {
        try (Trunkline trunkline = open()) {
            proxy.trap("lost-key", Fate.REPLY_CUT);
            proxy.refuse(true);
            assertThatThrownBy(() -> trunkline
                            .publisher()
                            .publish(Message.of("orders", "written").withIdempotencyKey("lost-key")))
                    .isInstanceOf(OutcomeUnknownException.class);

            proxy.refuse(false);
            assertThat(Logs.texts(trunkline, "orders")).containsExactly("written");
        }
    }
}
