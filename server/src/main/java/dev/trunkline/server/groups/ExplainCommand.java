package dev.trunkline.server.groups;

import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupAdmin.Fact;
import dev.trunkline.Priority;
import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
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

    private static final Pattern ID = Pattern.compile("-?\\d{1,18}");
    private static final Pattern PLACE =
            Pattern.compile("(\\d{1,9})@(\\d{1,18})(?:/(LOW|NORMAL|HIGH))?", Pattern.CASE_INSENSITIVE);

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Parameters(paramLabel = "GROUP")
    String group = "";

    @Parameters(paramLabel = "TOPIC")
    String topic = "";

    @Parameters(
            paramLabel = "MESSAGE",
            description = {
                "Its id, or its place: PARTITION@OFFSET,",
                "with /HIGH or /LOW if it lies at another level than the normal one."
            })
    String message = "";

    @Option(names = "--json", description = "As a JSON array.")
    boolean json;

    @Override
    public void run() {
        Matcher place = PLACE.matcher(message);
        if (!place.matches() && !ID.matcher(message).matches()) {
            throw new ParameterException(
                    command.commandLine(),
                    "\"" + message + "\" is no message: give its id, PARTITION@OFFSET or PARTITION@OFFSET/HIGH");
        }
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = database.open()) {
            List<Fact> facts = place.matches()
                    ? at(place, trunkline.admin())
                    : trunkline.admin().explain(group, topic, Long.parseLong(message));
            if (json) {
                out.println(Output.json(facts));
                return;
            }
            facts.forEach(fact -> out.printf("%-16s %s%n", fact.fact(), Output.printable(fact.detail())));
            out.flush();
        }
    }

    private List<Fact> at(Matcher place, ConsumerGroupAdmin admin) {
        Priority priority = place.group(3) == null
                ? Priority.NORMAL
                : Priority.valueOf(place.group(3).toUpperCase(Locale.ROOT));
        return admin.explain(group, topic, Integer.parseInt(place.group(1)), priority, Long.parseLong(place.group(2)));
    }
}
