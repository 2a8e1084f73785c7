package dev.trunkline.server.topics;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline topics alter}. */
@Command(name = "alter", description = "Change a topic; what is not given stays as it is.")
final class AlterCommand implements Runnable {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Mixin
    TopicOptions options = new TopicOptions();

    @Parameters(paramLabel = "TOPIC")
    String name = "";

    @Option(names = "--json", description = "Print the topic as JSON.")
    boolean json;

    @Override
    public void run() {
        try (Trunkline trunkline = database.open()) {
            TopicConfiguration now = trunkline
                    .topics()
                    .find(name)
                    .orElseThrow(() -> new UnknownTopicException(
                            "there is no topic \"" + name + "\": see the list, trunkline topics list"));
            TopicConfiguration topic = options.applyTo(now);
            trunkline.topics().alter(topic);
            command.commandLine().getOut().println(json ? Output.json(topic) : "altered topic " + name);
        }
    }
}
