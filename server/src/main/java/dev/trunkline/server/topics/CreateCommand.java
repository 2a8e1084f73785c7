package dev.trunkline.server.topics;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline topics create}. */
@Command(name = "create", description = "Create a topic; a queue unless said otherwise.")
final class CreateCommand implements Runnable {

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
            TopicConfiguration topic = options.applyTo(TopicConfiguration.queue(name));
            trunkline.topics().create(topic);
            command.commandLine().getOut().println(json ? Output.json(topic) : "created topic " + name);
        }
    }
}
