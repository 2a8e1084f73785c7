package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.GroupListener;
import dev.trunkline.IncompatibleDatabaseException;
import dev.trunkline.Log;
import dev.trunkline.Message;
import dev.trunkline.OffsetOutOfRangeException;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Receipt;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Journal;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.Shutdown;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** F20: failover to a standby, which has everything or lacks the last of it. */
@Tag("fault")
class PromotionTest {

    @TempDir
    Path directory;

    @TempDir
    Path journals;

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
        Journal journal = Journal.create(journals, "load");
        DataSource promoted = standby.dataSource(database.name());
        standbyIsRefused();
        try (Trunkline trunkline = Trunkline.builder()
                        .url(urlOfBoth(), primary.user(), primary.password())
                        .open();
                Load load = new Load(trunkline, sourceOfBoth(), "orders", journal, seed)) {
            load.start(4);
            load.awaitMore(200);
            primary.kill();
            assertThat(Sql.run(promoted, "select pg_promote()")).containsExactly("t");
            load.awaitMore(100);
            load.stop();
            assertThat(load.surprises()).as("seed " + seed).isEmpty();
        }
        try (Trunkline trunkline = onStandby().open()) {
            Verdict.on(trunkline, promoted, "orders", journals, "seed " + seed);
        }
    }

    @Test
    void groups_handle_what_is_appended_where_the_log_was_lost() throws SQLException {
        database.execute("alter system reset synchronous_standby_names");
        database.query("select pg_reload_conf()");
        DataSource promoted = standby.dataSource(database.name());
        try (Trunkline trunkline = Trunkline.builder()
                .url(urlOfBoth(), primary.user(), primary.password())
                .lease(Duration.ofSeconds(2))
                .open()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.pubSub("news").withPartitions(1).withLanes(1));
            Map<String, Set<String>> handled = new ConcurrentHashMap<>();
            List<Long> ahead = new CopyOnWriteArrayList<>();
            for (String name : List.of("one", "other")) { // two share what they read
                Set<String> its = ConcurrentHashMap.newKeySet();
                handled.put(name, its);
                trunkline
                        .createConsumerGroup(name, "news", byte[].class)
                        .addConsumer(
                                name, delivery -> its.add(delivery.message().text()))
                        .listener(new GroupListener() {
                            @Override
                            public void aheadOfLog(int partition, long cursor, long end) {
                                ahead.add(cursor - end);
                            }
                        })
                        .start(SubscriptionOptions.fromBeginning());
            }
            publish(trunkline, "kept", 10);
            awaitAll(handled, "kept", 10);
            cutOff(promoted);
            publish(trunkline, "lost", 20);
            awaitAll(handled, "lost", 20);
            primary.kill();
            assertThat(Sql.run(promoted, "select pg_promote()")).containsExactly("t");

            publish(trunkline, "new", 5);
            awaitAll(handled, "new", 5);
            await().until(() -> ahead.size() == 2);
            assertThat(ahead).allMatch(lost -> lost >= 15);
            publish(trunkline, "more", 25);
            awaitAll(handled, "more", 25);

            await().until(() -> Sql.run(promoted, "select cursor from trunkline.lag('one', 'news')")
                    .equals(List.of("40")));
            assertThat(Sql.run(promoted, "select min(epoch) > 1000000 from trunkline.holder"))
                    .containsExactly("t");
        }
    }

    /** What is lost was told, and its offsets are given again: a tail that went on would pass over messages. */
    @Test
    void a_tail_says_that_the_end_of_the_log_was_lost() throws Exception {
        database.execute("alter system reset synchronous_standby_names");
        database.query("select pg_reload_conf()");
        DataSource promoted = standby.dataSource(database.name());
        try (Trunkline trunkline = Trunkline.builder()
                .url(urlOfBoth(), primary.user(), primary.password())
                .open()) {
            for (String topic : List.of("news", "quiet")) {
                trunkline
                        .topics()
                        .create(TopicConfiguration.pubSub(topic)
                                .withPartitions(1)
                                .withLanes(1));
            }
            Log.Tail overtaken = trunkline.log().fromBeginning("news");
            Log.Tail ahead = trunkline.log().fromBeginning("news");
            Log.Tail kept = trunkline.log().fromBeginning("news");
            Log.Tail quiet = trunkline.log().tail("quiet");
            publish(trunkline, "kept", 10);
            assertThat(told(kept, 10)).endsWith("kept9");
            cutOff(promoted);
            publish(trunkline, "lost", 3);
            assertThat(told(overtaken, 13)).endsWith("lost2");
            assertThat(told(ahead, 13)).endsWith("lost2");
            primary.kill();
            assertThat(Sql.run(promoted, "select pg_promote()")).containsExactly("t");

            publish(trunkline, "new", 1);
            assertThatThrownBy(() -> told(ahead, 14)).isInstanceOf(OffsetOutOfRangeException.class);
            publish(trunkline, "more", 5);
            assertThatThrownBy(() -> told(overtaken, 14)).isInstanceOf(OffsetOutOfRangeException.class);
            assertThat(told(kept, 6)).startsWith("new0").endsWith("more4");
            trunkline.publisher().publish(Message.of("quiet", "here"));
            assertThat(told(quiet, 1)).containsExactly("here");
        }
    }

    private static List<String> told(Log.Tail tail, int count) {
        List<String> told = new ArrayList<>();
        await().atMost(Duration.ofSeconds(60))
                .ignoreExceptionsInstanceOf(DatabaseUnavailableException.class)
                .until(() -> {
                    tail.poll(Duration.ofMillis(200)).forEach(message -> told.add(message.text()));
                    return told.size() >= count;
                });
        return told;
    }

    /** It has what there is now, and nothing more. */
    private void cutOff(DataSource from) throws SQLException {
        String here = database.query("select pg_current_wal_flush_lsn()").getFirst();
        await().until(() -> Sql.run(from, "select pg_last_wal_replay_lsn() >= '" + here + "'")
                .equals(List.of("t")));
        Sql.run(from, "alter system set primary_conninfo = ''");
        Sql.run(from, "select pg_reload_conf()");
        await().until(() ->
                database.query("select pid from pg_stat_replication").isEmpty());
    }

    private static void publish(Trunkline trunkline, String what, int count) {
        for (int i = 0; i < count; i++) {
            String value = what + i;
            await().ignoreExceptions()
                    .until(() -> trunkline
                                    .publisher()
                                    .publish(Message.of("news", value).withIdempotencyKey(value))
                            != null);
        }
    }

    private static void awaitAll(Map<String, Set<String>> handled, String what, int count) {
        List<String> all = IntStream.range(0, count).mapToObj(i -> what + i).toList();
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(handled.values())
                        .allSatisfy(its -> assertThat(its).containsAll(all)));
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
