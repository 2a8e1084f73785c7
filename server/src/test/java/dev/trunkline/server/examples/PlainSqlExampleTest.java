package dev.trunkline.server.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code examples/plain-sql}: statement by statement over JDBC, everywhere; and as people run it, where there is a psql. */
@Timeout(180)
class PlainSqlExampleTest {

    private final Shop shop;

    PlainSqlExampleTest() throws SQLException {
        shop = new Shop();
    }

    private static List<Path> scripts() throws IOException {
        try (Stream<Path> files = Files.list(Shop.example("plain-sql"))) {
            return files.filter(file -> file.toString().endsWith(".sql"))
                    .sorted()
                    .toList();
        }
    }

    /** Statements end with a semicolon at the end of a line, and nothing else does. */
    private static List<String> statements(Path script) throws IOException {
        String text = Files.readString(script).replaceAll("(?m)^--.*\\R", "");
        return Arrays.stream(text.split(";\\s*(\\R|$)"))
                .map(String::strip)
                .filter(statement -> !statement.isEmpty())
                .toList();
    }

    @Test
    void it_runs_statement_by_statement_and_again() throws Exception {
        for (int time = 1; time <= 2; time++) {
            for (Path script : scripts()) {
                try (Connection connection = shop.connect();
                        Statement statement = connection.createStatement()) {
                    for (String sql : statements(script)) {
                        statement.execute(sql);
                    }
                }
            }
            assertEveryOrderHasOneInvoice(time);
        }
    }

    @Test
    void it_runs_through_psql() throws Exception {
        Program.assumeFound("psql");
        for (Path script : scripts()) {
            Program.run(
                    script.getParent(),
                    shop.environment(),
                    "psql",
                    "-X",
                    "-v",
                    "ON_ERROR_STOP=1",
                    "-f",
                    script.getFileName().toString());
        }
        assertEveryOrderHasOneInvoice(1);
    }

    private void assertEveryOrderHasOneInvoice(int times) throws SQLException {
        assertThat(
                        shop.query(
                                "select o.customer, o.total, i.count, i.total from plain_order o left join lateral"
                                        + " (select count(*), min(total) as total from plain_invoice i where i.order_id = o.id) i on true order by o.id"))
                .hasSize(4 * times)
                .startsWith("ada|12.50|1|12.50", "bob|3|1|3", "ada|5|1|5", "cyd|99999|1|9999")
                .allMatch(row -> row.contains("|1|"));
        assertThat(shop.query("select customer, count(*) from plain_invoice where order_id = 0 group by customer"))
                .as("what was published twice with one idempotency key")
                .containsExactly("dan|1");
        assertThat(shop.query("select pending, done, dead_letters, parked from trunkline.groups"))
                .containsExactly("0|" + (4 * times + 1) + "|0|0");
        assertThat(shop.query("select count(*) from trunkline.delayed")).containsExactly(Integer.toString(times));
    }
}
