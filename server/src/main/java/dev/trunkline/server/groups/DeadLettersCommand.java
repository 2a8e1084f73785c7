package dev.trunkline.server.groups;

import dev.trunkline.ConsumerGroupException;
import dev.trunkline.DeadLetter;
import dev.trunkline.DeadLetters;
import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import dev.trunkline.server.Table;
import java.io.PrintWriter;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline dead-letters}. */
@Command(
        name = "dead-letters",
        description = {
            "List, show or discard what a group has given up. See also: redrive.",
            "The one group of a queue is called shared."
        })
public final class DeadLettersCommand {

    private static final int LARGEST_PAGE = 1_000;

    @Spec
    CommandSpec command = CommandSpec.create();

    @Command(description = "List dead letters by their numbers, some at a time.")
    void list(
            @Mixin ConnectionOptions at,
            @Parameters(paramLabel = "GROUP") String group,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Option(names = "--after", paramLabel = "ID", description = "Go on after this one.") long after,
            @Option(names = "--limit", paramLabel = "N", defaultValue = "50", description = "How many: 50 by default.")
                    int limit,
            @Option(names = "--json", description = "As a JSON array, with all that belongs to them.") boolean json) {
        if (limit < 1 || limit > LARGEST_PAGE) {
            throw new ParameterException(command.commandLine(), "--limit is " + limit + ": use 1 to " + LARGEST_PAGE);
        }
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = at.open()) {
            List<DeadLetter> found =
                    Letters.of(at.address(), trunkline, group, topic).all().list(after, limit);
            if (json) {
                out.println(Output.json(
                        found.stream().map(DeadLettersCommand::fields).toList()));
                return;
            }
            Table table = new Table("ID", "PLACE", "KEY", "ATTEMPTS", "BURIED AT", "", "ERROR");
            found.forEach(letter -> table.row(
                    letter.id(),
                    Output.place(letter.partition(), letter.priority(), letter.offset()),
                    letter.key(),
                    letter.attempts(),
                    letter.buriedAt(),
                    letter.decided() ? "decided" : "",
                    letter.error()));
            table.print(command);
            if (found.size() == limit) {
                out.println("for more: --after " + found.getLast().id());
            }
        }
    }

    @Command(description = "Show a dead letter: the message, its error and what happened to it before.")
    void show(
            @Mixin ConnectionOptions at,
            @Parameters(paramLabel = "GROUP") String group,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Parameters(paramLabel = "ID") long id,
            @Option(names = "--json", description = "As JSON.") boolean json) {
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = at.open()) {
            DeadLetter letter = Letters.of(at.address(), trunkline, group, topic).all().list(id - 1, 1).stream()
                    .filter(found -> found.id() == id)
                    .findFirst()
                    .orElseThrow(() -> new ConsumerGroupException("there is no dead letter " + id
                            + " of this group: see the list, trunkline dead-letters list"));
            if (json) {
                out.println(Output.json(fields(letter)));
                return;
            }
            print(letter, out);
            out.flush();
        }
    }

    private static void print(DeadLetter letter, PrintWriter out) {
        out.printf("dead letter %d%s%n", letter.id(), letter.decided() ? ", which is to be redriven or discarded" : "");
        out.printf(
                "message %d at %s, key %s%n",
                letter.messageId(), Output.place(letter.partition(), letter.priority(), letter.offset()), key(letter));
        letter.headers().forEach((name, value) -> out.println(Output.printable("header " + name + ": " + value)));
        out.println(Output.readable(letter.payload(), letter.contentType()));
        out.printf(
                "given up at %s after %d attempts: %s%n",
                letter.buriedAt(), letter.attempts(), Output.printable(letter.error()));
        letter.stack()
                .stripTrailing()
                .lines()
                .map(line -> Output.printable(line.replace("\t", "    ")))
                .forEach(out::println);
        letter.history().forEach(line -> out.println("  " + Output.printable(line)));
    }

    private static String key(DeadLetter letter) {
        return letter.key() == null ? "-" : Output.printable(letter.key());
    }

    private static Map<String, @Nullable Object> fields(DeadLetter letter) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("id", letter.id());
        fields.put("partition", letter.partition());
        fields.put("priority", letter.priority());
        fields.put("offset", letter.offset());
        fields.put("messageId", letter.messageId());
        fields.put("key", letter.key());
        fields.put("headers", letter.headers());
        fields.put("contentType", letter.contentType());
        Output.addPayload(fields, letter.payload());
        fields.put("attempts", letter.attempts());
        fields.put("error", letter.error());
        fields.put("stack", letter.stack());
        fields.put("history", letter.history());
        fields.put("buriedAt", letter.buriedAt());
        fields.put("decided", letter.decided());
        return fields;
    }

    @Command(description = "Remove dead letters for good; the keys that they stop go on without them.")
    int discard(@Mixin ConnectionOptions at, @Mixin Choice choice) throws SQLException {
        return choice.decide(at, "discarded", DeadLetters::discard);
    }
}
