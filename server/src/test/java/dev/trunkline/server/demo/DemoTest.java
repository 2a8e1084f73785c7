package dev.trunkline.server.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.trunkline.server.Cli;
import dev.trunkline.server.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(600)
class DemoTest {

    private static final String TRACES = """
            select (select count(*) from pg_namespace where nspname ~ '^trunkline')
                 + (select count(*) from pg_roles where rolname ~ '^trunkline_demo')
            """;

    @Test
    void the_demo_on_a_given_database_proves_itself_and_leaves_nothing_behind() throws Exception {
        String database = Cli.freshDatabase();

        // Long enough that the process that is killed after a quarter of it holds something by then.
        Cli.Result demo = Cli.on(database, "demo", "--seconds", "10");

        assertThat(demo.code()).as(demo.out() + demo.err()).isZero();
        assertThat(demo.out())
                .containsPattern("email handled ([\\d,]+) of \\1 committed orders")
                .containsPattern("analytics handled ([\\d,]+) of \\1 committed orders")
                .containsPattern("rolled back: [1-9][\\d,]*, of them handled: 0")
                .containsPattern("one to one: ([\\d,]+) and \\1")
                .containsPattern("process \\d+ was killed; its [1-9]\\d* partitions had an owner")
                .contains("order 7 of writer 0 for unlucky, given up by inventory after 3 attempts")
                .contains("All 9 lines hold.");
        assertThat(notes(demo.out())).doesNotExist();
        try (Connection connection = Cli.postgres().dataSource(database).getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(TRACES)) {
            row.next();
            assertThat(row.getInt(1)).isZero();
        }
    }

    @Test
    void spoiled_notes_fail_the_proof_and_the_demo_runs_again_on_its_own_data_directory(@TempDir Path data)
            throws Exception {
        Cli.Result spoiled = Cli.run(new Spoiling(), "demo", "--seconds", "2", "--data", data.toString());
        Path notes = notes(spoiled.out());
        assertThat(spoiled.code()).as(spoiled.out() + spoiled.err()).isEqualTo(1);
        assertThat(spoiled.out()).contains("not handled by", "lines are wrong; the notes stay in " + notes);
        Notes.delete(notes);

        Cli.Result again = Cli.run("demo", "--seconds", "2", "--data", data.toString(), "--json");
        assertThat(again.code()).as(again.out() + again.err()).isZero();
        JsonNode proof = new JsonMapper().readTree(again.out());
        assertThat(proof.get("holds").asBoolean()).isTrue();
        assertThat(proof.get("lines").findValuesAsString("claim"))
                .hasSize(9)
                .anyMatch(claim -> claim.contains("email handled"));
    }

    /** Deletes the notes of this process once the other one was replaced: while that is said, so that the proof comes later. */
    private static final class Spoiling extends StringWriter {
        private boolean done;

        @Override
        public void flush() {
            if (!done && toString().contains("takes its place")) {
                Path ours = notes(toString())
                        .resolve("process-" + ProcessHandle.current().pid() + ".notes");
                try {
                    done = Files.deleteIfExists(ours);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private static Path notes(String out) {
        Matcher noted = Pattern.compile("noted in (\\S+)").matcher(out);
        assertThat(noted.find()).as(out).isTrue();
        return Path.of(noted.group(1));
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
                if (!interrupted && line.matches(".* email lag [\\d,]+, [1-9].*")) {
                    interrupted = true;
                    new ProcessBuilder("kill", "-INT", Long.toString(demo.pid())).start();
                }
            }
            assertThat(demo.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            demo.destroyForcibly();
        }
        assertThat(said).as(String.join("\n", said)).last().isEqualTo("All 8 lines hold.");
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
