package dev.trunkline.server.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code examples/node}: SQL is all that it has, and no process of Trunkline's runs. */
@Timeout(300)
class NodeExampleTest {

    private static final int ORDERS = 300;
    private static final String ACKNOWLEDGING =
            " where datname = current_database() and wait_event_type = 'Lock' and query like '%.ack(%'";

    /** One of the seven customers whose orders are in one batch with those of others. */
    private static final String NOT_ALONE = """
            select 'customer ' || min(n) from generate_series(0, 6) n
            group by trunkline.partition_of('customer ' || n, 4) having count(*) > 1 limit 1""";

    private final Shop shop;

    @TempDir
    Path directory;

    NodeExampleTest() throws SQLException {
        shop = new Shop();
    }

    @Test
    void a_consumer_is_killed_midway_and_each_order_has_one_invoice() throws Exception {
        Path example = installed();
        Map<String, String> environment = new HashMap<>(shop.environment());
        environment.put("LEASE", "1 second");
        Program.run(example, environment, "node", "setup.js");
        try (Program first = Program.start(example, environment, "node", "consumer.js")) {
            first.awaitLine("listening");
            Program.run(example, environment, "node", "producer.js", Integer.toString(ORDERS / 2));
            await("some invoices", "select count(*) > 20 from node_invoice");
            killInTransaction(first, example, environment);
        }
        assertThat(shop.query("select count(*) < (select count(*) from node_order) from node_invoice"))
                .as("it was killed before it was through")
                .containsExactly("t");
        try (Program second = Program.start(example, environment, "node", "consumer.js")) {
            await("an invoice for each order", "select count(distinct order_id) = " + ORDERS + " from node_invoice");
            second.stop();
            assertThat(second.waitFor()).as(second.output()).isZero();
            second.awaitLine("stopped");
        }
        assertThat(shop.query("select order_id, count(*) from node_invoice group by order_id having count(*) <> 1"))
                .isEmpty();
        assertThat(shop.query("select a.order_id from node_invoice a join node_invoice b"
                        + " on a.customer = b.customer and a.id < b.id and a.order_id > b.order_id"))
                .as("invoices of a customer that are out of order")
                .isEmpty();
        assertThat(shop.query("select pending, dead_letters from trunkline.groups"))
                .containsExactly("0|0");
        assertThat(shop.query("select * from trunkline.open_batches")).isEmpty();
    }

    @Test
    void of_a_batch_in_which_one_fails_one_is_given_up_and_the_rest_does_not_wait_for_that() throws Exception {
        Path example = installed();
        Program.run(example, shop.environment(), "node", "setup.js");
        try (Connection connection = shop.connect()) {
            execute(connection, "alter table node_invoice add column written_at timestamptz default clock_timestamp()");
        }
        shop.query("select trunkline.publish('node-orders', 'poison'::text, key => (" + NOT_ALONE + "))");
        Program.run(example, shop.environment(), "node", "producer.js", "28");
        try (Program consumer = Program.start(example, shop.environment(), "node", "consumer.js")) {
            await("a dead letter", "select count(*) > 0 from trunkline.dead_letters");
            await("nothing to do", "select pending = 0 from trunkline.groups");
            consumer.stop();
            assertThat(consumer.waitFor()).as(consumer.output()).isZero();
        }
        assertThat(shop.query("select text from trunkline.dead_letters")).containsExactly("poison");
        assertThat(shop.query("select count(*), count(distinct order_id) from node_invoice"))
                .as("all but those of the customer whose key it stops")
                .containsExactly("24|24");
        assertThat(shop.query(
                        "select max(written_at) < min(buried_at) from node_invoice cross join trunkline.dead_letters"))
                .containsExactly("t");
        assertThat(shop.query("select parked from trunkline.groups")).containsExactly("4");
    }

    private Path installed() throws Exception {
        Program.assumeFound("node", "npm");
        Path example = Shop.copy("node", directory);
        Program.assumeEndsWell(
                example,
                "no registry of npm answers",
                "npm",
                "view",
                "--fetch-retries=0",
                "--fetch-timeout=20000",
                "pg",
                "version");
        Program.assumeEndsWell(
                example,
                "the registry of npm does not give what the example needs",
                "npm",
                "install",
                "--no-save",
                "--no-package-lock",
                "--no-audit",
                "--no-fund",
                "--loglevel=error");
        return example;
    }

    /**
     * First it can not write invoices, and so is stopped with a batch that is not acknowledged; then it can not acknowledge it. There it is killed, and its
     * connection with it, or else the server would go on with the statement: its invoices are written and must not stay.
     */
    private void killInTransaction(Program consumer, Path example, Map<String, String> environment) throws Exception {
        try (Connection invoices = shop.connect();
                Connection batches = shop.connectAsOwner()) {
            invoices.setAutoCommit(false);
            batches.setAutoCommit(false);
            execute(invoices, "lock table node_invoice in exclusive mode");
            Program.run(example, environment, "node", "producer.js", Integer.toString(ORDERS - ORDERS / 2));
            await(
                    "a consumer that waits to write",
                    "select count(*) > 0 from pg_locks where relation = 'node_invoice'::regclass and not granted");
            assertThat(shop.query("select count(*) > 0 from trunkline.open_batches"))
                    .containsExactly("t");
            execute(batches, "select from trunkline.holder for no key update");
            invoices.rollback();
            await("a consumer that waits to acknowledge", "select count(*) > 0 from pg_stat_activity" + ACKNOWLEDGING);
            consumer.kill();
            consumer.waitFor();
            execute(batches, "select pg_terminate_backend(pid, 60000) from pg_stat_activity" + ACKNOWLEDGING);
            batches.rollback();
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private void await(String what, String sql) {
        Awaitility.await(what)
                .atMost(Duration.ofMinutes(2))
                .until(() -> shop.query(sql).equals(List.of("t")));
    }
}
