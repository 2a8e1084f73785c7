package dev.trunkline.server.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.Shutdown;
import dev.trunkline.rig.FaultProxy;
import dev.trunkline.rig.TransactionPooler;
import dev.trunkline.server.Address;
import dev.trunkline.server.Cli;
import dev.trunkline.server.doctor.Diagnosis.State;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each check is seen to fire on what it is for, and none of them on an installation that is well. */
@Timeout(300)
class DoctorTest {

    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final AtomicInteger DATABASES = new AtomicInteger();

    private static EmbeddedPostgres server;

    private final String database = "ill_" + DATABASES.incrementAndGet();

    /** A server as it should be: that of the other tests is quick, and not durable. */
    @BeforeAll
    static void start() throws Exception {
        server = EmbeddedPostgres.temporary().start();
        Files.writeString(
                server.dataDirectory().resolve("cluster").resolve("pg_hba.conf"), "host all all 127.0.0.1/32 trust\n");
        execute(server.dataSource().getConnection(), "select pg_reload_conf()");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void createDatabase() {
        server.createDatabase(database);
    }

    private static void execute(Connection connection, String... statements) throws SQLException {
        try (connection;
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    private void execute(String... statements) throws SQLException {
        execute(server.dataSource(database).getConnection(), statements);
    }

    private Trunkline open(boolean backgroundWork) {
        return Trunkline.builder()
                .url(server.jdbcUrl(database), server.user(), server.password())
                .backgroundWork(backgroundWork)
                .open();
    }

    private Address address(String url) {
        return Address.of(url, server.user(), server.password(), "trunkline");
    }

    private static Diagnosis examine(String name, Address address, Clock clock, Duration patience) throws SQLException {
        Check check = Doctor.CHECKS.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
        try (Connection connection = address.connect()) {
            return Doctor.examine(check, new Patient(address, connection, clock, patience));
        }
    }

    private Diagnosis examine(String check, Duration patience) throws SQLException {
        return examine(check, address(server.jdbcUrl(database)), Clock.systemUTC(), patience);
    }

    private void assertWrong(String check, String said) throws SQLException {
        assertWrong(examine(check, PATIENCE), said);
    }

    private static void assertWrong(Diagnosis diagnosis, String said) {
        assertThat(diagnosis.state()).as("%s", diagnosis).isEqualTo(State.WRONG);
        assertThat(String.join("; ", diagnosis.found())).contains(said);
        assertThat(diagnosis.meaning()).isNotBlank();
        assertThat(diagnosis.advice()).isNotBlank();
    }

    private String[] command(String... more) {
        return Stream.concat(Stream.of("doctor", "--url", server.jdbcUrl(database)), Stream.of(more))
                .toArray(String[]::new);
    }

    @Test
    void nothing_is_wrong_with_an_installation_that_is_well() throws Exception {
        try (Trunkline trunkline = open(true)) {
            trunkline.topics().create(TopicConfiguration.pubSub("orders"));
            var group = trunkline.createConsumerGroup("emails", "orders", String.class);
            group.addConsumer("all", delivery -> {});
            group.start(SubscriptionOptions.fromBeginning());
            trunkline.publisher().publish(Message.of("orders", "x"));
            Awaitility.await().atMost(2, TimeUnit.MINUTES).until(() -> {
                try (Connection connection = server.dataSource(database).getConnection();
                        Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery("select until is not null from trunkline.upkeep_turn")) {
                    return row.next() && row.getBoolean(1);
                }
            });
            Cli.Result result = Cli.run(command("--user", server.user(), "--password", server.password()));
            assertThat(result.code()).as(result.out() + result.err()).isZero();
            assertThat(result.out().lines()).hasSize(Doctor.CHECKS.size()).allMatch(line -> line.startsWith("ok "));
        }
    }

    @Test
    void with_as_little_as_a_connection_it_says_what_it_lacks() throws Exception {
        open(false).close();
        execute("create role stranger_" + database + " login");
        Cli.Result result = Cli.run(command("--user", "stranger_" + database));
        assertThat(result.err()).isEmpty();
        assertThat(result.code())
                .as("not even the schema was looked at: %s", result.out())
                .isEqualTo(1);
        assertThat(result.out())
                .contains("not checked  schema: needs membership in the role trunkline_reader")
                .contains("not checked  transactions: needs membership in the role pg_monitor")
                .contains("not checked  groups: needs", "not checked  outbox: needs", "ok           notifications");
        assertThat(Cli.run(command("--user", "stranger_" + database, "--json")).out())
                .contains("\"state\":\"NOT_CHECKED\"", "\"needs\":\"membership in the role pg_monitor\"");
    }

    @Test
    void what_is_wrong_is_told_with_what_it_means_and_what_to_do() {
        Cli.Result result = Cli.run(command("--user", server.user(), "--password", server.password()));
        assertThat(result.code()).isEqualTo(1);
        assertThat(result.out())
                .contains(
                        "wrong        schema: there is no schema trunkline", "it means: ", "do: run trunkline migrate")
                .contains("not checked  groups: needs the schema at version " + Trunkline.schemaVersion());
    }

    @ParameterizedTest
    @CsvSource({"14, false", "15, true", "18, true", "19, false"})
    void versions_that_nobody_has_tried_are_named(int major, boolean fine) {
        assertThat(Doctor.version(major).isEmpty()).isEqualTo(fine);
    }

    @Test
    void a_standby_is_named() throws Exception {
        try (EmbeddedPostgres standby = EmbeddedPostgres.temporary().start()) {
            Path signal = standby.dataDirectory().resolve("cluster").resolve("standby.signal");
            Files.createFile(signal);
            Files.setPosixFilePermissions(signal, PosixFilePermissions.fromString("rw-rw-rw-"));
            standby.restart(Shutdown.FAST);
            Address address = Address.of(standby.jdbcUrl(), standby.user(), standby.password(), "trunkline");
            assertWrong(examine("standby", address, Clock.systemUTC(), PATIENCE), "this server is a standby");
        }
    }

    @Test
    void settings_that_lose_data_are_named() throws SQLException {
        EmbeddedPostgres unsafe = Cli.postgres();
        Address address = Address.of(unsafe.jdbcUrl(), unsafe.user(), unsafe.password(), "trunkline");
        Diagnosis settings = examine("settings", address, Clock.systemUTC(), PATIENCE);
        assertWrong(settings, "fsync is off");
        assertThat(settings.found())
                .containsExactlyInAnyOrder("fsync is off", "full_page_writes is off", "synchronous_commit is off");
    }

    @Test
    void a_schema_that_is_too_old_or_too_new_is_named() throws SQLException {
        open(false).close();
        int version = Trunkline.schemaVersion();
        execute("insert into trunkline.migration (version, name) values (" + (version + 1) + ", 'later')");
        assertWrong("schema", "is at version " + (version + 1) + ", this trunkline needs " + version);
        execute("delete from trunkline.migration where version >= " + version);
        assertWrong("schema", "is at version " + (version - 1));
    }

    @Test
    void a_restore_that_is_not_adopted_is_named() throws SQLException {
        open(false).close();
        execute("update trunkline.installation set database = 1");
        assertWrong("restored", "the restore of another database");
    }

    @Test
    void a_pooler_in_transaction_mode_is_named() throws SQLException {
        open(false).close();
        for (int size : new int[] {1, 3}) {
            try (TransactionPooler pooler = new TransactionPooler(server.port(), size)) {
                Address address = address(pooler.jdbcUrl(database));
                assertWrong(
                        examine("pooler", address, Clock.systemUTC(), PATIENCE), "share the processes of the server");
            }
        }
    }

    @Test
    void who_looks_through_a_pooler_leaves_nothing_behind_for_the_next_client() throws SQLException {
        try (Trunkline trunkline = open(false);
                TransactionPooler pooler = new TransactionPooler(server.port(), 1)) {
            trunkline.topics().create(TopicConfiguration.pubSub("orders").withPartitions(1));
            for (int i = 0; i < 10; i++) {
                trunkline.publisher().publish(Message.of("orders", "x"));
                execute("select trunkline.roll_segment(t.id) from trunkline.topic t");
            }
            Address address = address(pooler.jdbcUrl(database));
            Cli.Result verified = Cli.run("verify", "--url", address.url(), "--user", address.user());
            assertThat(verified.code()).as(verified.out() + verified.err()).isZero();
            examine("pooler", address, Clock.systemUTC(), PATIENCE);
            examine("notifications", address, Clock.systemUTC(), PATIENCE);
            try (Connection next = DriverManager.getConnection(address.url(), address.user(), "");
                    Statement statement = next.createStatement();
                    ResultSet row = statement.executeQuery(
                            "select current_setting('search_path'),"
                                    + " current_setting('transaction_isolation'), current_setting('transaction_read_only'),"
                                    + " (select count(*) from pg_prepared_statements), (select count(*) from pg_listening_channels())")) {
                row.next();
                assertThat(row.getString(1)).isEqualTo("\"$user\", public");
                assertThat(row.getString(2)).isEqualTo("read committed");
                assertThat(row.getString(3)).isEqualTo("off");
                assertThat(row.getInt(4)).isZero();
                assertThat(row.getInt(5)).isZero();
            }
        }
    }

    @Test
    void a_notification_queue_that_fills_up_is_named_and_one_that_is_full() throws SQLException {
        try (EmbeddedPostgres small = EmbeddedPostgres.temporary()
                        .setting("max_notify_queue_pages", "64")
                        .start();
                Connection listener = small.dataSource().getConnection();
                Statement ears = listener.createStatement()) {
            Address address = Address.of(small.jdbcUrl(), small.user(), small.password(), "trunkline");
            ears.execute("listen here");
            listener.setAutoCommit(false);
            ears.execute("select 1"); // who is in a transaction reads nothing
            assertThat(examine("notification queue", address, Clock.systemUTC(), PATIENCE)
                            .state())
                    .isEqualTo(State.OK);
            String notify = "select pg_notify('here', repeat('x', 7900))";
            execute(
                    small.dataSource().getConnection(),
                    Collections.nCopies(40, notify).toArray(String[]::new));
            assertWrong(examine("notification queue", address, Clock.systemUTC(), PATIENCE), "% full");
            assertThat(examine("notifications", address, Clock.systemUTC(), PATIENCE)
                            .state())
                    .isEqualTo(State.OK);
            assertThatThrownBy(() -> execute(
                            small.dataSource().getConnection(),
                            Collections.nCopies(100, notify).toArray(String[]::new)))
                    .hasMessageContaining("NOTIFY queue");
            assertWrong(examine("notifications", address, Clock.systemUTC(), PATIENCE), "none can be sent: ");
        }
    }

    @Test
    void notifications_that_do_not_arrive_are_named() throws SQLException {
        try (FaultProxy proxy = new FaultProxy(server.port())) {
            proxy.silence(true);
            Address address = address(proxy.jdbcUrl(database));
            assertWrong(examine("notifications", address, Clock.systemUTC(), PATIENCE), "has not arrived");
        }
    }

    @ParameterizedTest
    @CsvSource({"3600, behind", "-3600, ahead of"})
    void a_clock_that_is_wrong_is_named(long seconds, String said) throws SQLException {
        Clock clock = Clock.offset(Clock.systemUTC(), Duration.ofSeconds(seconds));
        assertWrong(examine("clock", address(server.jdbcUrl(database)), clock, PATIENCE), said + " this machine's");
    }

    @Test
    void a_transaction_that_stays_open_is_named_with_who_has_it() throws SQLException {
        String url = server.jdbcUrl(database) + "?ApplicationName=forgetful";
        try (Connection connection = address(url).connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("select pg_current_xact_id()");
            Diagnosis found = examine("transactions", Duration.ZERO);
            assertWrong(found, "forgetful");
            assertThat(found.found().toString()).contains("pid ", "idle in transaction", server.user());
            assertThat(examine("transactions", PATIENCE).state()).isEqualTo(State.OK);
        }
    }

    @Test
    void a_transaction_of_another_database_is_not_named() throws SQLException {
        String other = database + "_other";
        server.createDatabase(other);
        try (Connection connection = address(server.jdbcUrl(other) + "?ApplicationName=elsewhere")
                        .connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("select pg_current_xact_id()");
            assertThat(examine("transactions", Duration.ZERO).found().toString())
                    .doesNotContain("elsewhere");
            Address there = address(server.jdbcUrl(other));
            assertWrong(examine("transactions", there, Clock.systemUTC(), Duration.ZERO), "elsewhere");
        }
    }

    @Test
    void a_vacuum_that_takes_long_is_not_named() throws Exception {
        execute("create table public.large as select repeat('x', 1000) from generate_series(1, 10000)");
        try (Connection connection = address(server.jdbcUrl(database) + "?ApplicationName=vacuuming")
                        .connect();
                Statement statement = connection.createStatement();
                ExecutorService thread = Executors.newVirtualThreadPerTaskExecutor()) {
            statement.execute("set vacuum_cost_delay = '100ms'");
            statement.execute("set vacuum_cost_limit = 1");
            Future<Boolean> vacuum =
                    thread.submit(() -> statement.execute("vacuum (disable_page_skipping) public.large"));
            try {
                Awaitility.await()
                        .atMost(2, TimeUnit.MINUTES)
                        .until(() -> count(
                                        "select count(*) from pg_stat_progress_vacuum v join pg_stat_activity a using (pid)"
                                                + " where a.application_name = 'vacuuming' and a.backend_xmin is not null")
                                == 1);
                assertThat(examine("transactions", Duration.ZERO).found().toString())
                        .doesNotContain("vacuuming");
                assertThat(vacuum.isDone()).isFalse();
            } finally {
                statement.cancel();
            }
        }
    }

    private long count(String sql) throws SQLException {
        try (Connection connection = server.dataSource(database).getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    void a_replication_slot_that_nobody_uses_is_named() throws SQLException {
        execute("select pg_create_physical_replication_slot('left_behind', true)");
        try {
            assertWrong("replication slots", "slot \"left_behind\" is used by nobody");
        } finally {
            execute("select pg_drop_replication_slot('left_behind')");
        }
    }

    @Test
    void that_nobody_relays_and_what_waits_for_it_is_named() throws SQLException {
        try (Trunkline trunkline = open(false)) {
            trunkline.topics().create(TopicConfiguration.queue("orders"));
            execute("select trunkline.publish('orders', 'x'::text), trunkline.publish('orders', 'y'::text)");
            assertWrong("background work", "nobody has ever done it");
            assertWrong(examine("outbox", Duration.ZERO), "topic orders: 2 messages wait for the relay");
            assertThat(examine("outbox", PATIENCE).state()).isEqualTo(State.OK);
            trunkline.relayNow();
            assertThat(examine("outbox", Duration.ZERO).state()).isEqualTo(State.OK);
        }
    }

    @Test
    void upkeep_that_falls_behind_and_a_group_that_holds_back_are_named() throws SQLException {
        try (Trunkline trunkline = open(false)) {
            trunkline.topics().create(TopicConfiguration.pubSub("orders").withPartitions(1));
            for (int i = 0; i < 5; i++) {
                trunkline.publisher().publish(Message.of("orders", "x"));
                execute("select trunkline.roll_segment(t.id) from trunkline.topic t");
            }
            execute("update trunkline.segment set opened_at = opened_at - interval '20 days'");
            assertWrong("upkeep", "topic orders: 5 segments could go");
            assertWrong("unheard topics", "topic orders has no group");
            trunkline.pull("slow", "orders", String.class, PullOptions.fromBeginning());
            assertWrong("retention", "topic orders: group \"slow\" holds back");
            assertThat(examine("unheard topics", PATIENCE).state()).isEqualTo(State.OK);
        }
    }

    @Test
    void a_queue_that_nobody_takes_messages_from_is_named() throws SQLException {
        try (Trunkline trunkline = open(false)) {
            trunkline.topics().create(TopicConfiguration.queue("tasks"));
            assertWrong("unheard topics", "nobody takes messages from queue tasks");
            trunkline.pull("shared", "tasks", String.class, PullOptions.fromBeginning());
            assertThat(examine("unheard topics", PATIENCE).state()).isEqualTo(State.OK);
        }
    }

    @Test
    void groups_that_do_not_work_are_named() throws SQLException {
        try (Trunkline trunkline = open(false)) {
            trunkline.topics().create(TopicConfiguration.pubSub("orders").withPartitions(1));
            PullConsumer<String> stuck = trunkline.pull("stuck", "orders", String.class, PullOptions.fromBeginning());
            trunkline.pull("forgotten", "orders", String.class, PullOptions.fromBeginning());
            execute(
                    "select trunkline.subscribe('gone', 'orders'), trunkline.subscribe('going', 'orders')",
                    "update trunkline.subscription set status = 'DEAD' where group_name = 'gone'",
                    "update trunkline.subscription set created_at = created_at - interval '1 hour',"
                            + " status_since = status_since - interval '1 hour', unattended_since = unattended_since - dead_after * 0.75");
            trunkline.publisher().publish(Message.of("orders", "x"));
            execute("update trunkline.segment_1 set appended_at = appended_at - interval '1 hour'");
            assertThat(stuck.pop(1, Duration.ofMinutes(1))).isPresent();
            assertThat(examine("groups", PATIENCE).found())
                    .containsExactlyInAnyOrder(
                            "group \"gone\" of topic orders is DEAD, with 1 messages pending",
                            "group \"going\" of topic orders is NEAR_TIMEOUT, with 1 messages pending",
                            "group \"forgotten\" of topic orders is UNATTENDED, with 1 messages pending",
                            "group \"stuck\" of topic orders is STALLED, with 1 messages pending");
        }
    }

    @Test
    void tables_that_grow_out_of_proportion_are_named() throws SQLException {
        open(false).close();
        execute(
                "alter table trunkline.blocked set (autovacuum_enabled = off)",
                "insert into trunkline.blocked select 1, 1, n::text from generate_series(1, 20000) n",
                "delete from trunkline.blocked");
        Awaitility.await()
                .atMost(2, TimeUnit.MINUTES)
                .until(() -> examine("bloat", PATIENCE).state() == State.WRONG);
        assertWrong("bloat", "table blocked has 20000 dead rows beside 0 live ones");
    }

    @Test
    void every_check_says_what_it_means_and_what_to_do() {
        assertThat(Doctor.CHECKS).allSatisfy(check -> {
            assertThat(check.meaning()).isNotBlank();
            assertThat(check.advice()).isNotBlank();
        });
        assertThat(Doctor.CHECKS.stream().map(Check::name).collect(Collectors.toSet()))
                .hasSameSizeAs(Doctor.CHECKS);
    }
}
