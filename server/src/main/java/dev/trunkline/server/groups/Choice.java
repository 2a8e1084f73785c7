package dev.trunkline.server.groups;

import dev.trunkline.ConsumerGroupException;
import dev.trunkline.DeadLetters;
import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import dev.trunkline.server.Progress;
import java.io.PrintWriter;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongBiFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Some dead letters of a group, or all of them, and what is to become of them. */
final class Choice {

    @Spec(Spec.Target.MIXEE)
    CommandSpec command = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "GROUP")
    String group = "";

    @Parameters(index = "1", paramLabel = "TOPIC")
    String topic = "";

    @Parameters(index = "2..*", arity = "0..*", paramLabel = "ID", description = "Numbers of dead letters.")
    List<Long> ids = List.of();

    @Option(names = "--all", description = "All of the group.")
    boolean all;

    @Option(names = "--dry-run", description = "Only tell what it would do.")
    boolean dryRun;

    @Option(names = "--json", description = "As JSON.")
    boolean json;

    /**
     * Carries it out, or tells what that would do. Returns the exit code.
     *
     * @param done what has become of them then
     */
    int decide(ConnectionOptions database, String done, ToLongBiFunction<DeadLetters, Collection<Long>> decision)
            throws SQLException {
        if (all == !ids.isEmpty()) {
            throw new ParameterException(command.commandLine(), "which ones? Give their numbers, or --all");
        }
        @Nullable List<Long> some = all ? null : ids.stream().distinct().toList();
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = database.open();
                Progress progress = new Progress(command)) {
            Letters letters = Letters.of(database.address(), trunkline, group, topic);
            if (dryRun) {
                Letters.Plan plan = letters.plan(some);
                out.println(
                        json
                                ? Output.json(plan)
                                : plan.deadLetters() + " dead letters would be " + done + "; " + plan.keys()
                                        + " keys would go on, with " + plan.waiting() + " messages that wait");
                return 0;
            }
            long decided = some == null
                    ? letters.each(page -> decision.applyAsLong(letters.all(), page), progress)
                    : decision.applyAsLong(letters.all(), some);
            progress.clear();
            out.println(json ? Output.json(Map.of("decided", decided)) : decided + " dead letters are to be " + done);
            if (some != null && decided < some.size()) {
                throw new ConsumerGroupException((some.size() - decided) + " of " + some.size()
                        + " are no dead letters of this group: see trunkline dead-letters list");
            }
            return 0;
        }
    }
}
