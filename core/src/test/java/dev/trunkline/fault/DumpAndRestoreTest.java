package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Event.Content;
import dev.trunkline.checker.Event.End;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.checker.Journal;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.testing.Load;
import dev.trunkline.testing.Logs;
import dev.trunkline.testing.PgTools;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.Servers;
import dev.trunkline.testing.TestDatabase;
import dev.trunkline.testing.Verdict;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A logical dump, taken while publishers run, goes on elsewhere as the same log. */
@Tag("fault")
class DumpAndRestoreTest {

    private static final List<String> ROLES = List.of("trunkline_owner", "trunkline_app", "trunkline_reader");

    private static PgTools tools;
    private static EmbeddedPostgres first;

    @TempDir
    Path directory;

    @TempDir
    Path orders;

    @TempDir
    Path busy;

    @TempDir
    Path whole;

    private final long seed = Seed.next();
    private Journal journal;
    private final Set<String> ids = new HashSet<>();

    @BeforeAll
    static void findTools() {
        assumeTrue(
                PgTools.find().isPresent(),
                "no pg_dump, pg_restore and psql of PostgreSQL 15 or newer in /usr/lib/postgresql/*/bin or PATH");
        tools = PgTools.find().orElseThrow();
        first = Servers.quick(15).start();
    }

    @AfterAll
    static void stop() {
        if (first != null) {
            first.close();
        }
    }

    @BeforeEach
    void begin() {
        journal = Journal.create(orders, "test");
    }

    @Test
    void a_dump_goes_on_in_a_fresh_cluster() throws Exception {
        TestDatabase source = TestDatabase.on(first);
        // Transaction ids of the source lie in the future of the fresh cluster.
        source.execute("do $$ begin for i in 1 .. 5000 loop perform pg_current_xact_id(); commit; end loop; end $$");
        Path dump = prepareAndDump(source);
        try (EmbeddedPostgres second = Servers.quick(15).start()) {
            TestDatabase target = TestDatabase.on(second);
            ROLES.forEach(role -> target.execute("create role " + role));
            tools.run("pg_restore", second, target.name(), "--exit-on-error", dump.toString());
            goesOn(target);
        }
    }

    @Test
    void a_dump_without_owners_goes_on_in_a_cluster_of_a_newer_version() throws Exception {
        TestDatabase source = TestDatabase.on(first);
        Path dump = prepareAndDump(source);
        TestDatabase target = TestDatabase.fresh();
        target.execute("do $$ begin for i in 1 .. 20000 loop perform pg_current_xact_id(); commit; end loop; end $$");
        tools.run(
                "pg_restore",
                target.server(),
                target.name(),
                "--exit-on-error",
                "--no-owner",
                "--no-privileges",
                dump.toString());
        goesOn(target);
    }

    @Test
    void a_dump_goes_on_in_another_database_of_its_cluster_beside_the_first() throws Exception {
        TestDatabase source = TestDatabase.on(first);
        Path dump = prepareAndDump(source);
        TestDatabase target = TestDatabase.on(first);
        tools.run("pg_restore", first, target.name(), "--exit-on-error", dump.toString());
        goesOn(target);
        try (Trunkline trunkline = source.open()) {
            trunkline.relayNow();
            assertThat(Logs.texts(trunkline, "orders")).contains("open").doesNotContain("after the restore");
        }
    }

    /** Messages in every state that a dump can meet them in. */
    private Path prepareAndDump(TestDatabase source) throws SQLException {
        Path dump = directory.resolve("dump");
        Load.createBusinessTable(source);
        try (Trunkline trunkline = source.open();
                Connection late = source.connect();
                Connection open = source.connect()) {
            trunkline
                    .topics()
                    .create(TopicConfiguration.queue("orders").withPartitions(4).withLanes(2));
            trunkline
                    .topics()
                    .create(TopicConfiguration.queue("busy").withPartitions(4).withLanes(2));
            publish(trunkline, "dropped, direct", Message.of("orders", "dropped, direct"));
            publish(trunkline, source, "dropped, relayed");
            trunkline.relayNow();
            rememberIds(source);
            drop(source, trunkline);

            publish(trunkline, "direct", Message.of("orders", "direct").withIdempotencyKey("once"));
            publish(trunkline, source, "relayed");
            delay(trunkline, "set aside, due soon", Duration.ofSeconds(3));
            delay(trunkline, "set aside, due late", Duration.ofHours(1));
            late.setAutoCommit(false);
            String inFlight = publish(Way.PUBLISH, List.of("in flight at the mark"));
            trunkline.publisher().publish(late, Message.of("orders", "in flight at the mark"));
            trunkline.relayNow();
            late.commit();
            journal.end(inFlight, Outcome.OK);

            publish(trunkline, source, "in the outbox");
            delay(trunkline, "in the outbox, due soon", Duration.ofSeconds(3));
            delay(trunkline, "in the outbox, due late", Duration.ofHours(1));
            open.setAutoCommit(false);
            journal.end(publish(Way.PUBLISH, List.of("open")), Outcome.FAILED);
            trunkline.publisher().publish(open, Message.of("orders", "open"));

            rememberIds(source);
            dumpUnderLoad(source, trunkline, dump);
            open.commit();
        }
        return dump;
    }

    private String publish(Way way, List<String> values) {
        return journal.publish(
                way,
                "orders",
                values.stream().map(value -> new Content(null, value)).toList());
    }

    private void publish(Trunkline trunkline, String value, Message message) {
        String call = publish(Way.PUBLISH, List.of(value));
        trunkline.publisher().publish(message);
        journal.end(call, Outcome.OK);
    }

    private void publish(Trunkline trunkline, TestDatabase database, String value) throws SQLException {
        List<String> values = List.of(value + " 1", value + " 2", value + " 3");
        String call = publish(Way.PUBLISH, values);
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            for (String each : values) {
                trunkline.publisher().publish(connection, Message.of("orders", each));
            }
            connection.commit();
        }
        journal.end(call, Outcome.OK);
    }

    private void delay(Trunkline trunkline, String value, Duration delay) {
        if (delay.toMinutes() < 1) {
            journal.end(publish(Way.LATER, List.of(value)), Outcome.OK);
        }
        trunkline.publisher().publish(Message.of("orders", value).withDelay(delay));
    }

    /** Drops all that is in the log of orders now, although its rows are still in the outbox. */
    private void drop(TestDatabase source, Trunkline trunkline) {
        Verdict.saw(journal, Logs.all(trunkline, "orders"));
        source.query("select trunkline.roll_segment(id) from trunkline.topic where name = 'orders'");
        assertThat(
                        source.query(
                                "select trunkline.drop_segment(t.id, (select s.bases from trunkline.segment s where s.topic = t.id"
                                        + " order by s.id desc limit 1)) is not null from trunkline.topic t where t.name = 'orders'"))
                .containsExactly("t");
        assertThat(Logs.texts(trunkline, "orders")).isEmpty();
    }

    /** What was acknowledged before the dump began is in it; what came during it may be, whole. */
    private void dumpUnderLoad(TestDatabase source, Trunkline trunkline, Path dump) {
        long began;
        try (Load load =
                new Load(trunkline, source.dataSource(), "busy", Journal.create(whole, "whole"), seed).start(3)) {
            load.awaitMore(100);
            began = System.nanoTime();
            tools.run("pg_dump", first, source.name(), "--format=custom", "--file=" + dump);
            load.awaitMore(10);
        }
        try (Journal dumped = Journal.create(busy, "dumped")) {
            dumped.write(Verdict.events(whole).stream()
                    .map(event -> event instanceof End end && end.outcome() == Outcome.OK && end.time() >= began
                            ? new End(end.time(), end.call(), Outcome.UNKNOWN)
                            : event)
                    .toList());
        }
    }

    private void goesOn(TestDatabase target) throws Exception {
        for (String refused : List.of(
                "select trunkline.publish('orders', 'too early'::text)",
                "select trunkline.publish_all('orders', array['\\x00'::bytea])",
                "select trunkline.relay(id) from trunkline.topic",
                "select trunkline.roll_segment(id) from trunkline.topic")) {
            assertThatThrownBy(() -> target.execute(refused))
                    .as(refused)
                    .cause()
                    .satisfies(e -> assertThat(((SQLException) e).getSQLState()).isEqualTo("TL004"));
        }
        adoptFromSeveralProcesses(target);
        try (Trunkline trunkline = target.open()) {
            assertThat(trunkline
                            .publisher()
                            .publish(Message.of("orders", "again").withIdempotencyKey("once"))
                            .duplicate())
                    .isTrue();
            publish(trunkline, "after the restore", Message.of("orders", "after the restore"));
            publish(trunkline, target, "after the restore");
            try (Load load = new Load(
                            trunkline, target.dataSource(), "busy", Journal.create(busy, "restored"), seed + 1_000_000)
                    .start(3)) {
                load.awaitMore(60);
                load.stop();
                assertThat(load.surprises()).isEmpty();
            }
            Verdict.on(trunkline, target.dataSource(), "busy", busy, "seed " + seed);
            Verdict.onLog(trunkline, target.dataSource(), "orders", orders, "seed " + seed);
            assertThat(
                            target.query(
                                    "select convert_from(payload, 'UTF8') from trunkline.delayed where due_at > clock_timestamp()"))
                    .containsExactlyInAnyOrder("set aside, due late", "in the outbox, due late");
            idsDoNotRepeat(target);
        }
    }

    private static void adoptFromSeveralProcesses(TestDatabase target) throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Callable<Integer> open = () -> {
                try (Trunkline trunkline = target.options().poolSize(2).open()) {
                    return trunkline.topics().list().size();
                }
            };
            for (Future<Integer> opened : threads.invokeAll(List.of(open, open, open))) {
                assertThat(opened.get()).isEqualTo(2);
            }
        }
    }

    private void rememberIds(TestDatabase source) {
        ids.addAll(source.query("select id from trunkline.messages union select id from trunkline.outbox"));
    }

    private void idsDoNotRepeat(TestDatabase target) {
        assertThat(target.number("select count(*) - count(distinct id) from trunkline.messages"))
                .isZero();
        assertThat(target.query("select id from trunkline.messages where \"text\" like 'after the restore%'"))
                .hasSize(4)
                .doesNotContainAnyElementsOf(ids);
    }
}
