package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.trunkline.IncompatibleDatabaseException;
import dev.trunkline.Message;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.Shutdown;
import dev.trunkline.testing.History;
import dev.trunkline.testing.Load;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.Sql;
import dev.trunkline.testing.TestDatabase;
import dev.trunkline.testing.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** F20: failover to a synchronous standby. */
@Tag("fault")
class PromotionTest {

    @TempDir
    Path directory;

    private EmbeddedPostgres primary;
    private EmbeddedPostgres standby;
    private TestDatabase database;

    @BeforeEach
    void start() throws IOException {
        primary = EmbeddedPostgres.at(directory.resolve("primary")).start();
        database = TestDatabase.on(primary);
        Load.createBusinessTable(database);
        try (Trunkline trunkline = database.open()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.queue("orders").withPartitions(4).withLanes(2));
        }
        primary.stop(Shutdown.FAST);
        Path copy = directory.resolve("standby");
        copy(primary.dataDirectory(), copy);
        Files.createFile(copy.resolve("cluster").resolve("standby.signal"));
        primary.start();
        standby = EmbeddedPostgres.at(copy)
                .setting(
                        "primary_conninfo",
                        "host=127.0.0.1 port=%d user=%s password=%s"
                                .formatted(primary.port(), primary.user(), primary.password()))
                .start();
        database.execute("alter system set synchronous_standby_names = '*'");
        database.query("select pg_reload_conf()");
        await().atMost(Duration.ofSeconds(60))
                .until(() -> database.query("select sync_state from pg_stat_replication")
                        .equals(List.of("sync")));
    }

    @AfterEach
    void stop() {
        if (primary != null) {
            primary.kill();
            primary.close();
        }
        if (standby != null) {
            standby.close();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> paths = Files.walk(from)) {
            for (Path path : (Iterable<Path>) paths::iterator) {
                if (!path.getFileName().toString().equals("lock")) {
                    Files.copy(path, to.resolve(from.relativize(path)), StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        }
    }

    private Trunkline.Builder onStandby() {
        return Trunkline.builder().url(standby.jdbcUrl(database.name()), standby.user(), standby.password());
    }

    /** Leads to whichever of the two is the primary. */
    private String urlOfBoth() {
        return "jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/%s?targetServerType=primary&hostRecheckSeconds=0"
                .formatted(primary.port(), standby.port(), database.name());
    }

    private DataSource sourceOfBoth() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(urlOfBoth());
        source.setUser(primary.user());
        source.setPassword(primary.password());
        return source;
    }

    @Test
    void promotion_loses_nothing_acknowledged_and_keeps_the_order() throws SQLException {
        long seed = Seed.next();
        History history = new History();
        DataSource promoted = standby.dataSource(database.name());
        standbyIsRefused();
        try (Trunkline trunkline = Trunkline.builder()
                        .url(urlOfBoth(), primary.user(), primary.password())
                        .open();
                Load load = new Load(trunkline, sourceOfBoth(), "orders", history, seed)) {
            load.start(4);
            load.awaitMore(200);
            primary.kill();
            assertThat(Sql.run(promoted, "select pg_promote()")).containsExactly("t");
            load.awaitMore(100);
            load.stop();
            assertThat(load.surprises()).as("seed " + seed).isEmpty();
        }
        try (Trunkline trunkline = onStandby().open()) {
            Verdict.on(trunkline, promoted, "orders", history, "seed " + seed);
        }
    }

    private void standbyIsRefused() {
        assertThatThrownBy(() -> onStandby().open())
                .isInstanceOf(IncompatibleDatabaseException.class)
                .hasMessageContaining("standby");
        for (String refused :
                List.of("select trunkline.relay(id) from trunkline.topic", "select trunkline.roll_segment(1)")) {
            assertThatThrownBy(() -> Sql.run(standby.dataSource(database.name()), refused))
                    .as(refused)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("TL007"));
        }
    }

    @Test
    void a_publish_whose_wait_for_the_standby_was_cancelled_is_not_acknowledged() {
        try (Trunkline trunkline = database.open()) {
            standby.stop(Shutdown.FAST);
            CompletableFuture<Receipt> receipt = trunkline.publisher().publishAsync(Message.of("orders", "here only"));
            // More than one may wait: not the first that is found need be the publisher's.
            await().until(() -> {
                database.query("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
                return receipt.isDone();
            });
            // A server told to go on does go on: it commits here and says so in a warning.
            assertThatThrownBy(receipt::join).cause().isInstanceOf(OutcomeUnknownException.class);
        }
    }
}
