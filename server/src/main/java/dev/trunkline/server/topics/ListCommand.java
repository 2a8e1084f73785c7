package dev.trunkline.server.topics;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import dev.trunkline.server.Table;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code trunkline topics list}. */
@Command(name = "list", description = "List all topics.")
final class ListCommand implements Runnable {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Option(names = "--json", description = "As a JSON array.")
    boolean json;

    @Override
    public void run() {
        try (Trunkline trunkline = database.open()) {
            List<TopicConfiguration> topics = trunkline.topics().list();
            if (json) {
                command.commandLine().getOut().println(Output.json(topics));
                return;
            }
            Table table = new Table("TOPIC", "SEMANTICS", "ORDERING", "PARTITIONS", "LANES", "RETENTION");
            topics.forEach(topic -> table.row(
                    topic.name(),
                    topic.semantics(),
                    topic.ordering(),
                    topic.partitions(),
                    topic.lanes(),
                    topic.retention()));
            table.print(command);
        }
    }
}
