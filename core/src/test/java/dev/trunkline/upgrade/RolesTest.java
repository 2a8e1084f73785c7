package dev.trunkline.upgrade;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Message;
import dev.trunkline.PullOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.TrunklineException;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may do what in the database. */
@Tag("fault")
class RolesTest {

    private static final String PASSWORD = "secret";
    private static final String FORBIDDEN = "42501";

    private final TestDatabase database = TestDatabase.fresh();
    private final String user = "user_of_" + database.name();
    private Trunkline owner;

    @BeforeEach
    void migrate() {
        owner = database.open();
        owner.topics()
                .create(TopicConfiguration.queue("orders").withPartitions(4).withLanes(2));
        owner.publisher().publish(Message.of("orders", "first"));
        createUser(database, user, "");
    }

    @AfterEach
    void close() {
        owner.close();
    }

    private static void createUser(TestDatabase where, String name, String attributes) {
        where.execute("create role " + name + " login password '" + PASSWORD + "' " + attributes);
    }

    private static Trunkline.Builder as(TestDatabase where, String name) {
        return Trunkline.builder().url(where.url(), name, PASSWORD).backgroundWork(false);
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(database.url(), user, PASSWORD);
    }

    private void assertForbidden(String sql) {
        assertThatThrownBy(() -> {
                    try (Connection connection = connect()) {
                        TestDatabase.query(connection, sql);
                    }
                })
                .as(sql)
                .isInstanceOfSatisfying(
                        SQLException.class,
                        e -> assertThat(e.getSQLState()).as(e.getMessage()).isEqualTo(FORBIDDEN));
    }

    @Test
    void app_creates_topics_publishes_relays_keeps_up_and_reads() throws SQLException {
        database.execute("grant trunkline_app to " + user);
        try (Trunkline trunkline = as(database, user).open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("events").withSegments(8192, Duration.ofHours(1)));
            trunkline.topics().alter(TopicConfiguration.queue("events").withRetention(Duration.ofDays(1)));
            trunkline.publisher().publish(Message.of("events", "single"));
            trunkline
                    .publisher()
                    .publishAll(List.of(
                            Message.of("events", "batch"),
                            Message.of("events", "batch").withIdempotencyKey("i")));
            trunkline.publisher().publish(Message.of("events", "delayed").withDelay(Duration.ofHours(1)));
            try (Connection connection = connect()) {
                connection.setAutoCommit(false);
                trunkline.publisher().publish(connection, Message.of("events", "transaction"));
                trunkline.publisher().publish(connection, Message.of("events", "transaction"));
                trunkline.publisher().publishAll(connection, List.of(Message.of("events", "transaction")));
                TestDatabase.query(connection, "select trunkline.publish('events', 'sql'::text)");
                TestDatabase.query(
                        connection, "select trunkline.publish('events', '{}'::jsonb, headers => '{\"a\": \"b\"}')");
                connection.commit();
                connection.setAutoCommit(true);
                TestDatabase.query(connection, "call trunkline.relay_now()");
                TestDatabase.query(connection, "call trunkline.upkeep_now()");
            }
            trunkline.relayNow();
            trunkline.upkeepNow();
            assertThat(Logs.texts(trunkline, "events"))
                    .containsExactlyInAnyOrder(
                            "single", "batch", "batch", "transaction", "transaction", "transaction", "sql", "{}");
            assertThat(trunkline.log().offsetAt("events", 0, java.time.Instant.EPOCH))
                    .isZero();
            trunkline.publisher().publish(Message.of("events", "in the next segment"));
            assertThat(Logs.texts(trunkline, "events")).contains("in the next segment");
            try (Connection connection = connect()) {
                assertThat(TestDatabase.query(connection, "select count(*) from trunkline.messages"))
                        .containsExactly("10");
                assertThat(TestDatabase.query(connection, "select count(*) from trunkline.topics"))
                        .containsExactly("2");
            }
            assertThatThrownBy(() -> trunkline.topics().drop("events"))
                    .isInstanceOf(TrunklineException.class)
                    .hasMessageContaining("permission denied");
        }
    }

    @Test
    void app_changes_nothing_past_the_functions() {
        database.execute("grant trunkline_app to " + user);
        database.query("select trunkline.roll_segment(id) from trunkline.topic");
        for (String table : tables()) {
            assertForbidden("delete from trunkline." + table);
            assertForbidden("truncate trunkline." + table);
            assertForbidden("drop table trunkline." + table);
            assertForbidden("update trunkline." + table + " set "
                    + database.query(
                                    "select quote_ident(attname) from pg_attribute where attrelid = ?::regclass and attnum = 1",
                                    "trunkline." + table)
                            .getFirst()
                    + " = default");
            if (!table.startsWith("outbox")) {
                assertForbidden("insert into trunkline." + table + " default values");
            }
        }
        assertForbidden("insert into trunkline.outbox_0 (xid, topic, lane, partition, content_type, payload)"
                + " values ('1', 1, 0, 0, 'text/plain', '')");
        assertForbidden("insert into trunkline.outbox_0 (published_at, topic, lane, partition, content_type, payload)"
                + " values (now(), 1, 0, 0, 'text/plain', '')");
        assertForbidden("select setval('trunkline.message_id', 1)");
        assertForbidden("select trunkline.remove_segment(1)");
        assertForbidden("select trunkline.create_segment(1, '{0}', '{now}')");
        assertForbidden("select trunkline.drop_topic('orders')");
        assertThat(database.query(
                        "select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'trunkline'::regnamespace"
                                + " and p.proname ~ '^segment_[0-9]+_' and has_function_privilege(?, p.oid, 'execute')",
                        user))
                .as("a segment's writers that app may call")
                .isEmpty();
        assertForbidden("create table trunkline.mine (id int)");
        assertForbidden("create function trunkline.mine() returns int language sql return 1");
        assertForbidden("set role trunkline_owner");
    }

    private List<String> tables() {
        return database.query(
                "select relname from pg_class where relnamespace = 'trunkline'::regnamespace and relkind = 'r' order by 1");
    }

    @Test
    void reader_reads_the_log_and_the_views_and_does_nothing_else() throws SQLException {
        database.execute("grant trunkline_reader to " + user);
        database.query("select trunkline.roll_segment(id) from trunkline.topic");
        owner.publisher().publish(Message.of("orders", "second"));
        try (Trunkline trunkline = as(database, user).migrate(false).open()) {
            assertThat(Logs.texts(trunkline, "orders")).containsExactlyInAnyOrder("first", "second");
            assertThat(trunkline.topics().find("orders")).isPresent();
            assertThatThrownBy(() -> trunkline.publisher().publish(Message.of("orders", "third")))
                    .hasMessageContaining("permission denied");
            assertThatThrownBy(() -> trunkline.topics().create(TopicConfiguration.queue("mine")))
                    .hasMessageContaining("permission denied");
            assertThatThrownBy(trunkline::relayNow).hasMessageContaining("permission denied");
            assertThatThrownBy(trunkline::upkeepNow).hasMessageContaining("permission denied");
        }
        try (Connection connection = connect()) {
            for (String view : List.of("messages", "topics", "topic_health")) {
                assertThat(TestDatabase.query(connection, "select count(*) > 0 from trunkline." + view))
                        .as(view)
                        .containsExactly("t");
            }
            for (String view : List.of(
                    "groups",
                    "gaps",
                    "dead_letters",
                    "open_batches",
                    "wildcards",
                    "unmatched",
                    "catch_ups",
                    "backlog")) {
                assertThat(TestDatabase.query(connection, "select count(*) from trunkline." + view))
                        .as(view)
                        .containsExactly("0");
            }
            assertThat(TestDatabase.query(connection, "select count(*) > 0 from trunkline.metrics()"))
                    .containsExactly("t");
            assertThatThrownBy(() -> TestDatabase.query(connection, "select trunkline.lag('nobody', 'orders')"))
                    .hasMessageContaining("there is no group \"nobody\"");
            assertThat(TestDatabase.query(
                            connection, "select r.text from generate_series(0, 3) p, trunkline.read('orders', p) r"))
                    .containsExactlyInAnyOrder("first", "second");
        }
        tables().forEach(table -> assertForbidden("insert into trunkline." + table + " default values"));
        assertForbidden("select trunkline.publish('orders', 'third'::text)");
        assertForbidden("select nextval('trunkline.message_id')");
        assertForbidden("call trunkline.relay_now()");
        assertThat(database.query(
                        "select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'trunkline'::regnamespace"
                                + " and has_function_privilege(?, p.oid, 'execute') and (p.prosecdef or p.provolatile = 'v') order by 1",
                        user))
                .as("functions that a reader may call and that could change something")
                .isEmpty();
    }

    @Test
    void reader_sees_a_group_that_stalls() throws SQLException {
        database.execute("grant trunkline_reader to " + user);
        owner.pull("shared", "orders", String.class, PullOptions.fromBeginning());
        database.execute("update trunkline.subscription set created_at = created_at - interval '10 minutes',"
                + " status_since = status_since - interval '10 minutes'");
        database.execute("update trunkline.segment_1 set appended_at = appended_at - interval '10 minutes'");
        try (Connection connection = connect()) {
            assertThat(TestDatabase.query(connection, "select health from trunkline.groups"))
                    .containsExactly("UNATTENDED");
            assertThat(TestDatabase.query(
                            connection, "select value from trunkline.metrics() where name = 'group_health'"))
                    .containsExactly("1");
        }
    }

    /** What reader may call, and the views, call with the rights of reader, in whatever state the installation is. */
    @Test
    void reader_may_call_all_that_is_called_by_what_reader_may_use() {
        database.execute("grant trunkline_reader to " + user);
        assertThat(database.query("select distinct x.caller, c.oid::regprocedure from ("
                        + "select p.oid::regprocedure::text as caller, pg_get_functiondef(p.oid) as body from pg_proc p"
                        + " where p.pronamespace = 'trunkline'::regnamespace and p.prokind = 'f' and has_function_privilege($$"
                        + user + "$$, p.oid, 'execute')"
                        + " union all select v.oid::regclass::text, pg_get_viewdef(v.oid) from pg_class v"
                        + " where v.relnamespace = 'trunkline'::regnamespace and v.relkind = 'v') x"
                        + " cross join lateral regexp_matches(x.body, 'trunkline\\.([a-z_]+)\\(', 'g') m"
                        + " join pg_proc c on c.pronamespace = 'trunkline'::regnamespace and c.proname = m[1]"
                        + " where not has_function_privilege($$" + user + "$$, c.oid, 'execute')"))
                .isEmpty();
    }

    @Test
    void nobody_else_can_do_anything() throws SQLException {
        database.query("select trunkline.roll_segment(id) from trunkline.topic");
        assertForbidden("select * from trunkline.topics");
        assertForbidden("select trunkline.publish('orders', 'x'::text)");
        assertForbidden("call trunkline.relay_now()");
        assertThat(database.query(
                        "select has_schema_privilege(?, 'trunkline', 'usage') or has_schema_privilege(?, 'trunkline', 'create')",
                        user,
                        user))
                .containsExactly("f");
        assertThat(database.query(
                        "select c.relname, p.privilege from pg_class c, unnest(array['select', 'insert', 'update', 'delete', 'truncate',"
                                + " 'references', 'trigger']) p (privilege) where c.relnamespace = 'trunkline'::regnamespace"
                                + " and c.relkind in ('r', 'v', 'p', 'm') and (has_table_privilege(?, c.oid, p.privilege)"
                                + " or p.privilege in ('select', 'insert', 'update', 'references')"
                                + " and has_any_column_privilege(?, c.oid, p.privilege))",
                        user,
                        user))
                .isEmpty();
        assertThat(database.query(
                        "select c.relname from pg_class c where c.relnamespace = 'trunkline'::regnamespace and c.relkind = 'S'"
                                + " and (has_sequence_privilege(?, c.oid, 'usage') or has_sequence_privilege(?, c.oid, 'select'))",
                        user,
                        user))
                .isEmpty();
        assertThat(database.query(
                        "select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'trunkline'::regnamespace"
                                + " and has_function_privilege(?, p.oid, 'execute')",
                        user))
                .isEmpty();
    }

    @Test
    void every_function_with_the_owners_rights_pins_its_search_path() {
        assertThat(
                        database.number(
                                "select count(*) from pg_proc p where p.pronamespace = 'trunkline'::regnamespace and p.prosecdef"))
                .isPositive();
        assertThat(database.query(
                        "select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'trunkline'::regnamespace and p.prosecdef"
                                + " and not coalesce(p.proconfig && array['search_path=pg_catalog, pg_temp'], false)"))
                .isEmpty();
        assertThat(database.query(
                        "select p.oid::regprocedure::text, p.proowner::regrole from pg_proc p where p.pronamespace = 'trunkline'::regnamespace"
                                + " and p.proowner <> 'trunkline_owner'::regrole"))
                .isEmpty();
        assertThat(
                        database.query(
                                "select c.relname from pg_class c where c.relnamespace = 'trunkline'::regnamespace and c.relowner <> 'trunkline_owner'::regrole"))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 18})
    void a_user_who_can_not_create_roles_migrates_and_owns_what_it_makes(int major) throws SQLException {
        migratesAndWorks(major, "plain_", "", "a_schema");
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 18})
    void a_user_who_can_create_roles_migrates_without_being_superuser(int major) throws SQLException {
        migratesAndWorks(major, "creator_", "createrole", "b_schema");
    }

    private static void migratesAndWorks(int major, String prefix, String attributes, String schema)
            throws SQLException {
        TestDatabase fresh = TestDatabase.fresh(major);
        String migrator = prefix + fresh.name();
        createUser(fresh, migrator, attributes);
        fresh.execute("grant create on database " + fresh.name() + " to " + migrator);
        try (Trunkline trunkline = as(fresh, migrator).schema(schema).open()) {
            trunkline.topics().create(TopicConfiguration.queue("orders"));
            trunkline.publisher().publish(Message.of("orders", "single"));
            try (Connection connection = DriverManager.getConnection(fresh.url(), migrator, PASSWORD)) {
                connection.setAutoCommit(false);
                trunkline.publisher().publish(connection, Message.of("orders", "transaction"));
                connection.commit();
            }
            trunkline.relayNow();
            trunkline.upkeepNow();
            assertThat(Logs.texts(trunkline, "orders")).containsExactlyInAnyOrder("single", "transaction");
            trunkline.topics().drop("orders");
        }
        String owner = attributes.isEmpty() ? migrator : schema + "_owner";
        assertThat(fresh.query("select nspowner::regrole from pg_namespace where nspname = ?", schema))
                .containsExactly(owner);
        assertThat(fresh.query(
                        "select distinct relowner::regrole::text from pg_class where relnamespace = ?::regnamespace",
                        schema))
                .containsExactly(owner);
    }
}
