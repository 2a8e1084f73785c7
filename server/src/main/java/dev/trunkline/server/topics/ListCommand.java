package dev.trunkline.server.topics;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code trunkline topics list}. */
@Command(name = "list", description = "List all topics.")
final class ListCommand implements Runnable {

    private static final String ROW = "%-32s %-9s %-10s %10s %5s %10s%n";

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Option(names = "--json", description = "As a JSON array.")
    boolean json;

    @Override
    public void run() {
        var out = command.commandLine().getOut();
        try (Trunkline trunkline = database.open()) {
            List<TopicConfiguration> topics = trunkline.topics().list();
            if (json) {
                out.println(Output.json(topics));
                return;
            }
            out.printf(ROW, "TOPIC", "SEMANTICS", "ORDERING", "PARTITIONS", "LANES", "RETENTION");
            for (TopicConfiguration topic : topics) {
                out.printf(
                        ROW,
                        topic.name(),
                        topic.semantics(),
                        topic.ordering(),
                        topic.partitions(),
                        topic.lanes(),
                        topic.retention());
            }
            out.flush();
        }
    }
}
