package dev.trunkline.server.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.Shutdown;
import dev.trunkline.server.Cli;
import dev.trunkline.server.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class DemoTest {

    private static final String TRACES = """
            select (select count(*) from pg_namespace where nspname ~ '^trunkline')
                 + (select count(*) from pg_roles where rolname ~ '^trunkline_demo')
            """;

    @Test
    void the_demo_on_a_given_database_proves_itself_and_leaves_nothing_behind() throws Exception {
        String database = Cli.freshDatabase();

        Cli.Result demo = Cli.on(database, "demo", "--seconds", "2");

        assertThat(demo.code()).as(demo.out() + demo.err()).isZero();
        assertThat(demo.out())
                .containsPattern("published in a transaction: ([\\d,]+) committed, \\1 of them read")
                .containsPattern("rolled back: [1-9][\\d,]*, of them read: 0")
                .containsPattern("one to one: ([\\d,]+) and \\1")
                .contains("All 12 lines hold.");
        try (Connection connection = Cli.postgres().dataSource(database).getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(TRACES)) {
            row.next();
            assertThat(row.getInt(1)).isZero();
        }
    }

    @Test
    void the_demo_runs_again_on_its_own_data_directory(@TempDir Path data) {
        for (int run = 0; run < 2; run++) {
            Cli.Result demo = Cli.run("demo", "--seconds", "1", "--data", data.toString());
            assertThat(demo.code()).as(demo.out() + demo.err()).isZero();
        }
    }

    @Test
    void the_proof_holds_over_a_restart_of_the_database() throws Exception {
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.temporary().unsafeFast().start()) {
            StringWriter out = new StringWriter();
            CompletableFuture<Cli.Result> demo = CompletableFuture.supplyAsync(() -> Cli.run(
                    out,
                    "demo",
                    "--seconds",
                    "6",
                    "--url",
                    postgres.jdbcUrl(),
                    "--user",
                    postgres.user(),
                    "--password",
                    postgres.password()));
            await().atMost(Duration.ofMinutes(1)).until(() -> out.toString().contains("msg/s"));
            postgres.restart(Shutdown.FAST);

            Cli.Result result = demo.get(2, TimeUnit.MINUTES);
            assertThat(result.code()).as(result.out() + result.err()).isZero();
            assertThat(result.out()).contains("All 12 lines hold.");
        }
    }

    @Test
    void ctrl_c_ends_the_demo_early_with_the_proof() throws Exception {
        assumeFalse(isInterruptIgnored(), "SIGINT is ignored here");
        Process demo = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "demo",
                        "--seconds",
                        "600")
                .redirectErrorStream(true)
                .start();
        List<String> said = new ArrayList<>();
        boolean interrupted = false;
        try (BufferedReader out = demo.inputReader()) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                said.add(line);
                if (line.contains("msg/s") && !interrupted) {
                    interrupted = true;
                    new ProcessBuilder("kill", "-INT", Long.toString(demo.pid())).start();
                }
            }
            assertThat(demo.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            demo.destroyForcibly();
        }
        assertThat(said).as(String.join("\n", said)).last().isEqualTo("All 12 lines hold.");
        assertThat(demo.exitValue()).isZero();
    }

    /** As for children of a shell that started them in the background. */
    private static boolean isInterruptIgnored() throws IOException {
        Path status = Path.of("/proc/self/status");
        return Files.exists(status)
                && Files.readAllLines(status).stream()
                        .filter(line -> line.startsWith("SigIgn:"))
                        .anyMatch(line ->
                                (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 2) != 0);
    }
}
