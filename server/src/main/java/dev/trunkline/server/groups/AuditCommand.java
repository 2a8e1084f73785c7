package dev.trunkline.server.groups;

import dev.trunkline.ConsumerGroupAdmin.Handled;
import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline audit}. */
@Command(
        name = "audit",
        description = "Tell which groups have handled a message, when, in which process, and who is missing.")
public final class AuditCommand implements Runnable {

    private static final String ROW = "%-24s %-14s %-9s %-28s %-24s %s%n";

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Parameters(paramLabel = "TOPIC")
    String topic = "";

    @Parameters(paramLabel = "MESSAGE", description = "Its id.")
    long message;

    @Option(names = "--json", description = "As a JSON array.")
    boolean json;

    @Override
    public void run() {
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = database.open()) {
            List<Handled> groups = trunkline.admin().audit(topic, message);
            if (json) {
                out.println(Output.json(groups));
                return;
            }
            out.printf(ROW, "GROUP", "STATE", "", "RECORDED AT", "PROCESS", "EPOCH");
            for (Handled group : groups) {
                out.printf(
                        ROW,
                        group.group(),
                        group.state(),
                        group.missing() ? "missing" : "",
                        group.recordedAt().map(Instant::toString).orElse(""),
                        group.session().orElse(""),
                        group.epoch().map(Object::toString).orElse(""));
            }
            out.flush();
        }
    }
}
