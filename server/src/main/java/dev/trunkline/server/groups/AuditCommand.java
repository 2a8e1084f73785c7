package dev.trunkline.server.groups;

import dev.trunkline.ConsumerGroupAdmin.Handled;
import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import dev.trunkline.server.Table;
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
        try (Trunkline trunkline = database.open()) {
            List<Handled> groups = trunkline.admin().audit(topic, message);
            if (json) {
                command.commandLine().getOut().println(Output.json(groups));
                return;
            }
            Table table = new Table("GROUP", "STATE", "", "RECORDED AT", "PROCESS", "EPOCH");
            groups.forEach(group -> table.row(
                    group.group(),
                    group.state(),
                    group.missing() ? "missing" : "",
                    group.recordedAt().orElse(null),
                    group.session().orElse(null),
                    group.epoch().orElse(null)));
            table.print(command);
        }
    }
}
