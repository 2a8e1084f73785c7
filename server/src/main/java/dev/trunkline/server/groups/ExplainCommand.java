package dev.trunkline.server.groups;

import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupAdmin.Fact;
import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import java.io.PrintWriter;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline explain}. */
@Command(name = "explain", description = "Tell why a message is where it is, for a group.")
public final class ExplainCommand implements Runnable {

    private static final Pattern MESSAGE = Pattern.compile("(?:(\\d{1,9})@)?(-?\\d{1,18})");

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Parameters(paramLabel = "GROUP")
    String group = "";

    @Parameters(paramLabel = "TOPIC")
    String topic = "";

    @Parameters(paramLabel = "MESSAGE", description = "Its id, or its place: PARTITION@OFFSET.")
    String message = "";

    @Option(names = "--json", description = "As a JSON array.")
    boolean json;

    @Override
    public void run() {
        Matcher place = MESSAGE.matcher(message);
        if (!place.matches()) {
            throw new ParameterException(
                    command.commandLine(), "\"" + message + "\" is no message: give its id, or PARTITION@OFFSET");
        }
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = database.open()) {
            ConsumerGroupAdmin admin = trunkline.admin();
            long number = Long.parseLong(place.group(2));
            List<Fact> facts = place.group(1) == null
                    ? admin.explain(group, topic, number)
                    : admin.explain(group, topic, Integer.parseInt(place.group(1)), number);
            if (json) {
                out.println(Output.json(facts));
                return;
            }
            facts.forEach(fact -> out.printf("%-16s %s%n", fact.fact(), fact.detail()));
            out.flush();
        }
    }
}
