package dev.trunkline.server;

import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.Trunkline;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline tail}. */
@Command(name = "tail", description = "Print the messages of a topic as they come, one a line, until Ctrl-C.")
final class TailCommand implements Callable<Integer> {

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Parameters(paramLabel = "TOPIC")
    String topic = "";

    @Option(names = "--from-beginning", description = "Start with the first message that is kept.")
    boolean fromBeginning;

    @Option(names = "--count", paramLabel = "N", description = "End after so many messages.")
    long count = Long.MAX_VALUE;

    @Option(names = "--only-read", description = "Relay nothing meanwhile; for users who may not write.")
    boolean onlyRead;

    @Option(names = "--json", description = "Print messages as JSON, with all that belongs to them.")
    boolean json;

    @Override
    public Integer call() throws InterruptedException {
        if (count < 0) {
            throw new ParameterException(command.commandLine(), "--count is " + count + ": use zero or more");
        }
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = database.address()
                .installation()
                .migrate(false)
                .backgroundWork(!onlyRead)
                .open()) {
            Log.Tail tail = fromBeginning
                    ? trunkline.log().fromBeginning(topic)
                    : trunkline.log().tail(topic);
            for (long left = count; left > 0 && !out.checkError(); ) {
                List<LogMessage> messages = tail.poll(PATIENCE);
                messages.stream()
                        .limit(left)
                        .map(message -> Output.line(message, json))
                        .forEach(out::println);
                left -= messages.size();
            }
            out.flush();
        }
        return 0;
    }
}
