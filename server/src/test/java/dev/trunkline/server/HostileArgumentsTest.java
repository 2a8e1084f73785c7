package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.rig.HostileInputs;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** F29 on the command line: a bad argument is taken as it is, or refused in one line. */
class HostileArgumentsTest {

    /** Each command opens the database anew: some of the texts, others for each command. */
    private static final int EACH = 4;

    private static final int STEP = 13;

    private static final List<List<String>> COMMANDS = List.of(
            List.of("topics", "create", "--partitions", "1", "%s"),
            List.of("topics", "alter", "orders", "--task", "%s"),
            List.of("topics", "alter", "%s", "--retention", "P1D"),
            List.of("topics", "drop", "%s"),
            List.of("publish", "%s", "x"),
            List.of("publish", "orders", "%s"),
            List.of("publish", "orders", "x", "--key", "%s"),
            List.of("publish", "orders", "x", "--header", "%s=%s"),
            List.of("publish", "orders", "x", "--idempotency-key", "%s"),
            List.of("publish", "orders", "x", "--content-type", "%s"),
            List.of("publish", "orders", "x", "--delay", "%s"),
            List.of("publish", "orders", "x", "--priority", "%s"),
            List.of("groups", "pause", "%s", "orders"),
            List.of("groups", "gaps", "nobody", "%s"),
            List.of("seek", "%s", "orders", "now"),
            List.of("seek", "nobody", "orders", "%s"),
            List.of("explain", "nobody", "orders", "%s"),
            List.of("audit", "%s", "1"),
            List.of("audit", "orders", "%s"),
            List.of("consume", "%s", "--count", "0"),
            List.of("consume", "orders", "--count", "0", "--group", "%s"),
            List.of("consume", "orders", "--count", "0", "--from", "%s"),
            List.of("lag", "%s"),
            List.of("lag", "nobody", "%s"),
            List.of("dead-letters", "list", "%s", "orders"),
            List.of("dead-letters", "show", "nobody", "%s", "1"),
            List.of("dead-letters", "discard", "nobody", "orders", "%s"),
            List.of("redrive", "%s", "orders", "--all"),
            List.of("redrive", "nobody", "orders", "%s"),
            List.of("keys", "create", "%s", "--verbs", "READ"),
            List.of("keys", "create", "me", "--verbs", "READ", "--topics", "%s"),
            List.of("keys", "revoke", "%s"),
            List.of("doctor", "--patience", "%s"),
            List.of("verify", "%s"),
            List.of("verify", "--schema", "%s"),
            List.of("schema", "--schema", "%s"));

    @Test
    void a_bad_argument_is_taken_or_refused_in_one_line() {
        String database = Cli.freshDatabase();
        assertThat(Cli.on(database, "migrate").code()).isZero();
        assertThat(Cli.on(database, "topics", "create", "orders", "--partitions", "1")
                        .code())
                .isZero();
        List<String> texts = HostileInputs.names();
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < COMMANDS.size() * EACH; i++) {
            String text = texts.get(i * STEP % texts.size());
            List<String> command = COMMANDS.get(i % COMMANDS.size());
            Cli.Result result = Cli.on(
                    database,
                    command.stream()
                            .map(argument -> argument.replace("%s", text))
                            .toArray(String[]::new));
            boolean refused = result.err().startsWith("trunkline: ")
                    && result.err().lines().count() == 1
                    && !result.err().contains("Exception");
            if (result.code() != 0 && !refused) {
                wrong.add(command + " with " + HostileInputs.show(text) + ": " + result);
            }
        }
        System.out.println(COMMANDS.size() * EACH + " bad arguments were given to commands");
        assertThat(wrong).isEmpty();
        assertThat(Cli.on(database, "topics", "list").code()).isZero();
    }
}
