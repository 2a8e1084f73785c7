package dev.trunkline.upgrade;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.IncompatibleDatabaseException;
import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.rig.ChildJvm;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.OpeningProcess;
import dev.trunkline.testing.Servers;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** F19: how the schema comes into a database, and into which it does not. */
@Tag("fault")
class MigrationTest {

    private final TestDatabase database = TestDatabase.fresh();

    /** Repeated, since some races are won most of the time. */
    @RepeatedTest(5)
    void ten_at_once_migrate_an_empty_database_once() throws Exception {
        openAtOnce(10, database.options());
        assertMigratedOnce();
    }

    @Test
    void processes_that_start_at_once_migrate_an_empty_database_once() throws Exception {
        List<ChildJvm> processes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            processes.add(ChildJvm.start(
                    OpeningProcess.class,
                    database.url(),
                    database.server().user(),
                    database.server().password()));
        }
        for (ChildJvm process : processes) {
            assertThat(process.readLine()).isEqualTo("ready");
        }
        processes.forEach(process -> process.writeLine("go"));
        for (ChildJvm process : processes) {
            assertThat(process.readLine()).isEqualTo("opened, topics: 0");
            assertThat(process.waitFor()).isZero();
        }
        assertMigratedOnce();
    }

    private void assertMigratedOnce() {
        long newest = database.number("select max(version) from trunkline.migration");
        List<String> versions = new ArrayList<>();
        for (long version = 1; version <= newest; version++) {
            versions.add(Long.toString(version));
        }
        assertThat(database.query("select version from trunkline.migration order by version"))
                .isEqualTo(versions);
    }

    @Test
    void databases_of_one_cluster_are_migrated_at_the_same_time() throws Exception {
        try (EmbeddedPostgres server = Servers.quick(15).start()) {
            List<Trunkline.Builder> builders = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                builders.add(TestDatabase.on(server).options());
            }
            openAtOnce(builders);
        }
    }

    private static void openAtOnce(int times, Trunkline.Builder builder) throws Exception {
        openAtOnce(Collections.nCopies(times, builder));
    }

    private static void openAtOnce(List<Trunkline.Builder> builders) throws Exception {
        CountDownLatch ready = new CountDownLatch(builders.size());
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> opened = new ArrayList<>();
            for (Trunkline.Builder builder : builders) {
                opened.add(threads.submit(() -> {
                    ready.countDown();
                    ready.await();
                    try (Trunkline trunkline = builder.poolSize(2).open()) {
                        return trunkline.topics().list().size();
                    }
                }));
            }
            for (Future<Integer> topics : opened) {
                assertThat(topics.get()).isZero();
            }
        }
    }

    @Test
    void two_schemas_live_side_by_side_in_one_database() throws Exception {
        try (Trunkline plain = database.open();
                Trunkline other = database.options()
                        .schema("trunkline_2")
                        .backgroundWork(false)
                        .open()) {
            slice(plain, "trunkline", database);
            slice(other, "trunkline_2", database);
            other.publisher().publish(Message.of("slice", "only there"));
            assertThat(Logs.texts(plain, "slice")).doesNotContain("only there");
            assertThat(Logs.texts(other, "slice")).contains("only there");
            assertThat(database.query("select has_schema_privilege('trunkline_app', 'trunkline_2', 'usage')"))
                    .containsExactly("f");
        }
    }

    @Test
    void a_schema_may_have_a_name_of_its_own() throws Exception {
        try (Trunkline trunkline =
                database.options().schema("bus").backgroundWork(false).open()) {
            slice(trunkline, "bus", database);
            assertThat(database.query("select to_regnamespace('trunkline') is null"))
                    .containsExactly("t");
        }
    }

    @Test
    void a_schema_of_a_newer_version_is_refused_with_both_versions() {
        database.open().close();
        long known = database.number("select max(version) from trunkline.migration");
        database.execute("insert into trunkline.migration (version, name) values (99, 'from the future')");
        for (boolean migrate : new boolean[] {true, false}) {
            assertThatThrownBy(() -> database.options().migrate(migrate).open())
                    .isInstanceOf(IncompatibleDatabaseException.class)
                    .hasMessageContaining("99")
                    .hasMessageContaining(Long.toString(known));
        }
    }

    @Test
    void an_empty_database_is_refused_where_nothing_is_migrated() {
        assertThatThrownBy(() -> database.options().migrate(false).open())
                .isInstanceOf(IncompatibleDatabaseException.class)
                .hasMessageContaining("version 0")
                .hasMessageContaining("migrate(true)");
        assertThat(database.query("select to_regnamespace('trunkline') is null"))
                .containsExactly("t");
    }

    @Test
    void the_printed_script_makes_what_migrating_makes() throws Exception {
        database.execute(Trunkline.schemaScript("trunkline"));
        try (Trunkline trunkline =
                database.options().migrate(false).backgroundWork(false).open()) {
            slice(trunkline, "trunkline", database);
        }
        TestDatabase migrated = TestDatabase.fresh();
        migrated.open().close();
        TestDatabase printed = TestDatabase.fresh();
        printed.execute(Trunkline.schemaScript("trunkline"));
        for (String catalogue : List.of(
                "select version, name from trunkline.migration order by 1",
                "select relname, relkind, relowner::regrole, relacl from pg_class where relnamespace = 'trunkline'::regnamespace order by 1",
                "select oid::regprocedure::text, proowner::regrole, proacl, prosecdef, proconfig, md5(prosrc) from pg_proc"
                        + " where pronamespace = 'trunkline'::regnamespace order by 1",
                "select defaclrole::regrole, defaclobjtype, defaclacl from pg_default_acl order by 1, 2")) {
            assertThat(printed.query(catalogue)).isNotEmpty().isEqualTo(migrated.query(catalogue));
        }
    }

    @Test
    void an_older_server_is_refused() {
        try (EmbeddedPostgres server = Servers.quick(14).start()) {
            TestDatabase old = TestDatabase.on(server);
            assertThatThrownBy(old::open)
                    .isInstanceOf(IncompatibleDatabaseException.class)
                    .hasMessageContaining("PostgreSQL 14")
                    .hasMessageContaining("PostgreSQL 15 or newer");
            assertThat(old.query("select to_regnamespace('trunkline') is null")).containsExactly("t");
        }
    }

    @Test
    void a_database_in_another_encoding_is_refused() {
        database.execute("create database ascii_only encoding 'SQL_ASCII' template template0");
        assertThatThrownBy(() -> Trunkline.open(database.server().dataSource("ascii_only")))
                .isInstanceOf(IncompatibleDatabaseException.class)
                .hasMessageContaining("SQL_ASCII")
                .hasMessageContaining("UTF8");
    }

    @Test
    void a_failed_migration_leaves_nothing() {
        database.execute("create schema trunkline");
        database.execute("grant all on schema trunkline to public");
        database.execute("create table trunkline.segment (in_the_way int)");
        assertThatThrownBy(database::open).hasMessageContaining("segment");
        assertThat(database.query("select relname from pg_class where relnamespace = 'trunkline'::regnamespace"))
                .containsExactly("segment");
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17, 18})
    void a_slice_of_everything_runs_on(int major) throws Exception {
        TestDatabase fresh = TestDatabase.fresh(major);
        assertThat(fresh.server().majorVersion()).isEqualTo(major);
        try (Trunkline trunkline = fresh.open()) {
            slice(trunkline, "trunkline", fresh);
        }
    }

    /** Publishes in three ways, relays, rolls, drops, reads. */
    private static void slice(Trunkline trunkline, String schema, TestDatabase database) throws SQLException {
        trunkline
                .topics()
                .create(TopicConfiguration.queue("slice").withPartitions(4).withLanes(2));
        publishThreeWays(trunkline, schema, database, "old");
        assertThat(Logs.texts(trunkline, "slice"))
                .containsExactlyInAnyOrder("old single", "old a", "old b", "old transaction", "old sql");
        database.query("select " + schema + ".roll_segment(id) from " + schema + ".topic where name = 'slice'");
        publishThreeWays(trunkline, schema, database, "new");
        database.query("select " + schema + ".drop_segment(t.id, (select s.bases from " + schema
                + ".segment s where s.topic = t.id order by s.id desc limit 1)) from " + schema
                + ".topic t where t.name = 'slice'");
        assertThat(Logs.texts(trunkline, "slice"))
                .containsExactlyInAnyOrder("new single", "new a", "new b", "new transaction", "new sql");
        Logs.assertDense(trunkline, "slice");
        trunkline.upkeepNow();
        assertThat(database.query("select count(*) from " + schema + ".messages where topic = 'slice'"))
                .containsExactly("5");
    }

    private static void publishThreeWays(Trunkline trunkline, String schema, TestDatabase database, String age)
            throws SQLException {
        trunkline.publisher().publish(Message.of("slice", age + " single").withKey("k"));
        trunkline
                .publisher()
                .publishAll(List.of(
                        Message.of("slice", age + " a"),
                        Message.of("slice", age + " b").withIdempotencyKey(age)));
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            trunkline.publisher().publish(connection, Message.of("slice", age + " transaction"));
            TestDatabase.query(connection, "select " + schema + ".publish('slice', ?::text)", age + " sql");
            connection.commit();
        }
        trunkline.relayNow();
    }
}
