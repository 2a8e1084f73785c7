package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.trunkline.rig.ChildJvm;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class UsageTest {

    @Test
    void help_names_every_command() {
        Cli.Result help = Cli.run("--help");
        assertThat(help.code()).isZero();
        assertThat(help.out())
                .contains("demo", "schema", "migrate", "topics", "publish", "tail", "consume", "groups", "lag", "seek")
                .contains(
                        "dead-letters",
                        "redrive",
                        "explain",
                        "audit",
                        "doctor",
                        "verify",
                        "keys",
                        "completion",
                        "bench")
                .contains("faults")
                .doesNotContain("demo-member");
        assertThat(Cli.run("topics", "create", "--help").out()).contains("--partitions", "--url");
    }

    @Test
    void version_names_the_program() {
        Cli.Result version = Cli.run("--version");
        assertThat(version.code()).isZero();
        assertThat(version.out()).startsWith("trunkline ");
    }

    @Test
    void a_wrong_call_exits_2_with_one_line() {
        for (List<String> wrong : List.of(
                List.<String>of(),
                List.of("nonsense"),
                List.of("topics"),
                List.of("tail"),
                List.of("demo", "--seconds", "many"),
                List.of("demo", "--seconds", "0"),
                List.of("demo", "--data", "here", "--url", "there"),
                List.of("publish", "orders", "x", "--delay", "soon", "--url", "jdbc:postgresql:x"),
                List.of("dead-letters"),
                List.of("redrive", "g", "t", "1", "--all", "--url", "jdbc:postgresql:x"),
                List.of("groups", "--json", "pause", "g", "t", "--url", "jdbc:postgresql:x"),
                List.of("tail", "t", "--count", "-1", "--url", "jdbc:postgresql:x"),
                List.of("consume", "t", "--count", "-1", "--url", "jdbc:postgresql:x"),
                List.of("consume", "t", "--lease", "PT0S", "--url", "jdbc:postgresql:x"),
                List.of("consume", "t", "--lease", "P2D", "--url", "jdbc:postgresql:x"),
                List.of("keys"),
                List.of("keys", "create", "me", "--url", "jdbc:postgresql:x"),
                List.of("bench", "--anything"),
                List.of("faults", "F1", "--minutes", "1"))) {
            Cli.Result result = Cli.run(wrong.toArray(String[]::new));
            assertThat(result.code()).as("%s", wrong).isEqualTo(2);
            assertThat(result.err()).as("%s", wrong).startsWith("trunkline: ").hasLineCount(1);
        }
    }

    @Test
    void an_option_that_would_not_count_because_it_stands_before_a_subcommand_is_refused() {
        for (List<String> options : List.of(
                List.of("--url", "jdbc:postgresql://127.0.0.1:1/other"),
                List.of("--user", "me"),
                List.of("--password", "secret"),
                List.of("--schema", "other"),
                List.of("--json"))) {
            List<String> arguments = new ArrayList<>(List.of("groups"));
            arguments.addAll(options);
            arguments.addAll(List.of("cancel", "g", "t", "--url", "jdbc:postgresql://127.0.0.1:1/this"));
            Cli.Result result = Cli.run(arguments.toArray(String[]::new));
            assertThat(result.code()).as("%s", options).isEqualTo(2);
            assertThat(result.err()).hasLineCount(1).contains(options.getFirst() + " is of no use before cancel");
        }
        assertThat(Cli.run("groups", "--debug", "cancel", "g", "t", "--url", "jdbc:postgresql://127.0.0.1:1/this")
                        .err())
                .contains("can not connect", "\tat dev.trunkline.server");
        assertThat(Cli.run("groups", "--help", "cancel").code()).isZero();
    }

    @Test
    void bench_and_faults_point_to_the_launcher() {
        assertThat(Cli.run("bench").err()).contains("./trunkline bench");
        assertThat(Cli.run("faults", "F1").err()).contains("./trunkline faults");
        assertThat(Cli.run("faults", "--help").out()).contains("./trunkline faults");
    }

    @Test
    void completion_is_a_script_that_bash_takes() throws Exception {
        Cli.Result script = Cli.run("completion");
        assertThat(script.code()).isZero();
        assertThat(script.out())
                .contains("complete -F", "dead-letters", "--patience")
                .doesNotContain("demo-member");
        Process bash =
                new ProcessBuilder("bash", "-n").redirectErrorStream(true).start();
        try (var in = bash.outputWriter(StandardCharsets.UTF_8)) {
            in.write(script.out());
        }
        String said = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(said).isZero();
    }

    @Test
    void a_command_without_a_database_says_how_to_give_one() {
        assumeTrue(System.getenv("TRUNKLINE_URL") == null);
        Cli.Result result = Cli.run("topics", "list");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).hasLineCount(1).contains("--url", "TRUNKLINE_URL");
    }

    @Test
    void a_database_that_is_not_there_gives_one_clear_line() {
        for (String url : List.of("jdbc:postgresql://127.0.0.1:1/shop?password=secret", "localhost/shop")) {
            for (String command : List.of("migrate", "demo")) {
                Cli.Result result = Cli.run(command, "--url", url, "--user", "me");
                assertThat(result.code()).isEqualTo(1);
                assertThat(result.err())
                        .hasLineCount(1)
                        .startsWith("trunkline: can not connect to ")
                        .contains("as me", "--url")
                        .doesNotContain("secret");
            }
        }
    }

    @Test
    void the_password_of_a_url_is_never_shown() {
        for (String url : List.of(
                "jdbc:postgresql://127.0.0.1:1/shop?password=secret&ssl=false",
                "jdbc:postgresql://127.0.0.1:1/shop?user=me&password=a secret",
                "jdbc:postgresql://127.0.0.1:port/shop?password=secret",
                "jdbc:postgresql://127.0.0.1:1/shop?password=%secret",
                "jdbc:postgresql://me:secret@127.0.0.1:1/shop",
                "postgres://me:secret@127.0.0.1:1/shop",
                "postgres://me:7/secret@127.0.0.1:1/shop",
                "127.0.0.1:1/shop?password=secret")) {
            for (List<String> command : List.of(
                    List.of("migrate"),
                    List.of("demo"),
                    List.of("demo", "--json"),
                    List.of("doctor", "--debug"),
                    List.of("serve", "--port", "0"))) {
                List<String> arguments = new ArrayList<>(command);
                arguments.addAll(List.of("--url", url));
                Cli.Result result = Cli.run(arguments.toArray(String[]::new));
                assertThat(result.code()).as("%s", arguments).isEqualTo(1);
                assertThat(result.out() + result.err())
                        .as("%s", arguments)
                        .contains("127.0.0.1")
                        .doesNotContain("secret");
            }
        }
        assertThat(Cli.run("topics", "list", "jdbc:postgresql://me:secret@h/shop")
                        .err())
                .contains("//me:...@h/shop")
                .doesNotContain("secret");
    }

    @Test
    void what_is_no_password_stays() {
        for (String url : List.of(
                "jdbc:postgresql://db:5432/shop?user=me@db",
                "jdbc:postgresql://one:5432,two:5433/shop?user=me@db",
                "jdbc:postgresql://db/shop")) {
            assertThat(Address.of(url, "me", null, "trunkline")).hasToString(url + " as me");
        }
    }

    @Test
    void the_driver_logs_nothing_of_a_url_that_it_can_not_parse() throws Exception {
        try (ChildJvm child = ChildJvm.start(
                List.of("sh", "-c", "exec \"$@\" 2>&1", "sh"),
                Main.class,
                Map.of(),
                "migrate",
                "--url",
                "jdbc:postgresql://me:secret@127.0.0.1/shop")) {
            assertThat(child.readLine()).startsWith("trunkline: can not connect to jdbc:postgresql://me:...@127.0.0.1");
            assertThat(child.readLine()).isNull();
        }
    }

    @Test
    void an_argument_that_the_locale_can_not_say_is_refused() {
        Map<String, String> ascii = Map.of("LC_ALL", "C");
        try (ChildJvm child = ChildJvm.start(
                List.of("sh", "-c", "exec \"$@\" \"$(printf 'gr\\303\\274n')\" 2>&1", "sh"),
                Main.class,
                ascii,
                "publish",
                "t")) {
            assumeTrue(!System.getProperty("os.name").startsWith("Mac"), "there it is UTF-8 always");
            assertThat(child.readLine())
                    .startsWith("trunkline: an argument has characters that this locale (")
                    .contains("LC_ALL");
            assertThat(child.readLine()).isNull();
        }
        try (ChildJvm child = ChildJvm.start(List.of(), Main.class, ascii, "--version")) {
            assertThat(child.readLine()).startsWith("trunkline");
        }
    }

    @Test
    void a_wrong_password_gives_one_clear_line() {
        Cli.Result result = Cli.run("topics", "list", "--url", Cli.postgres().jdbcUrl(), "--user", "nobody");
        assertThat(result.code()).isEqualTo(1);
        assertThat(result.err()).hasLineCount(1).contains("nobody", "--password");
    }

    @Test
    void a_value_that_can_not_be_exits_2_and_what_is_not_there_exits_1() {
        String database = Cli.freshDatabase();
        Cli.on(database, "migrate");
        Cli.on(database, "topics", "create", "orders", "--max-payload-bytes", "10");
        for (List<String> wrong : List.of(
                List.of("topics", "create", "a\nb"),
                List.of("topics", "create", "other", "--partitions", "0"),
                List.of("publish", "orders", "longer than ten"),
                List.of("publish", "orders", "x", "--key", "k".repeat(10_000)),
                List.of("consume", "orders", "--lease", "P2D"))) {
            Cli.Result result = Cli.on(database, wrong.toArray(String[]::new));
            assertThat(result.code()).as("%s: %s", wrong, result.err()).isEqualTo(2);
        }
        for (List<String> missing : List.of(
                List.of("publish", "nowhere", "x"),
                List.of("topics", "create", "orders"),
                List.of("lag", "nobody", "orders"),
                List.of("explain", "nobody", "orders", "0@0"),
                List.of("groups", "pause", "nobody", "orders"))) {
            Cli.Result result = Cli.on(database, missing.toArray(String[]::new));
            assertThat(result.code()).as("%s: %s", missing, result.err()).isEqualTo(1);
        }
    }

    @Test
    void debug_adds_the_stack_trace() {
        assertThat(Cli.run("migrate", "--debug", "--url", "jdbc:postgresql://127.0.0.1:1/x")
                        .err())
                .contains("\tat dev.trunkline.server");
    }

    @Test
    void a_database_without_the_schema_says_what_to_run() {
        Cli.Result result = Cli.on(Cli.freshDatabase(), "topics", "list");
        assertThat(result.code()).isEqualTo(1);
        assertThat(result.err()).hasLineCount(1).contains("trunkline schema");
    }
}
