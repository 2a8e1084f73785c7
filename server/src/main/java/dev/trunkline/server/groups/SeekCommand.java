package dev.trunkline.server.groups;

import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupAdmin.Moved;
import dev.trunkline.Start;
import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline seek}. */
@Command(name = "seek", description = "Move a group: handle messages again, or pass over them.")
public final class SeekCommand implements Runnable {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Parameters(paramLabel = "GROUP")
    String group = "";

    @Parameters(paramLabel = "TOPIC")
    String topic = "";

    @Parameters(
            paramLabel = "TO",
            description = "now, beginning, offset:N, message:ID, or a time such as 2026-11-16T08:00:00Z.")
    String to = "";

    @Option(names = "--partition", paramLabel = "N", description = "Only this one; needs --force.")
    @Nullable
    Integer partition;

    @Option(names = "--dry-run", description = "Only tell what it would do.")
    boolean dryRun;

    @Option(
            names = "--force",
            description = "Also if the group is running: what it has under way may be handled twice.")
    boolean force;

    @Option(names = "--json", description = "As a JSON array.")
    boolean json;

    @Override
    public void run() {
        Start place = place();
        if (partition != null && (!force || dryRun)) {
            throw new ParameterException(command.commandLine(), "--partition needs --force, and no --dry-run");
        }
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = database.open()) {
            List<Moved> moved = move(trunkline.admin(), place);
            if (json) {
                out.println(Output.json(moved));
                return;
            }
            for (Moved each : moved) {
                out.printf(
                        "%s: from %d to %d, %d handled again, %d passed over%n",
                        Output.strand(each.partition(), each.priority()),
                        each.from(),
                        each.to(),
                        each.replayed(),
                        each.skipped());
            }
            out.printf(
                    "%s: %d messages handled again, %d passed over%n",
                    dryRun ? "would be" : "in all",
                    moved.stream().mapToLong(Moved::replayed).sum(),
                    moved.stream().mapToLong(Moved::skipped).sum());
            out.flush();
        }
    }

    private Start place() {
        try {
            return Start.parse(to);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), e.getMessage(), e);
        }
    }

    private List<Moved> move(ConsumerGroupAdmin admin, Start place) {
        if (dryRun) {
            return admin.planSeek(group, topic, place);
        }
        if (partition != null) {
            return admin.seekByForce(group, topic, partition, place);
        }
        return force ? admin.seekByForce(group, topic, place) : admin.seek(group, topic, place);
    }
}
