package dev.trunkline.server.groups;

import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupAdmin.Gap;
import dev.trunkline.ConsumerGroupAdmin.GroupState;
import dev.trunkline.ConsumerGroupAdmin.TopicHealth;
import dev.trunkline.ConsumerGroupAdmin.Wildcard;
import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import dev.trunkline.server.Table;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline groups}: lists them; its subcommands change one. */
@Command(
        name = "groups",
        description = {
            "List consumer groups and how they are, or change one.",
            "The one group of a queue is called shared."
        })
public final class GroupsCommand implements Runnable {

    private static final String AS_JSON = "As a JSON array.";
    private static final String AS_STATE = "As JSON: how the group is then.";

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Option(names = "--json", description = AS_JSON)
    boolean json;

    @Override
    public void run() {
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = database.open()) {
            List<GroupState> groups = trunkline.admin().groups();
            if (json) {
                out.println(Output.json(groups));
                return;
            }
            Table table = new Table("GROUP", "TOPIC", "HEALTH", "MEMBERS", "PENDING", "PARKED", "DEAD", "MISSED");
            groups.forEach(group -> table.row(
                    group.name(),
                    group.topic(),
                    group.health(),
                    group.members(),
                    group.pending(),
                    group.parked(),
                    group.deadLetters(),
                    group.passedOver()));
            table.print(command);
            for (TopicHealth topic : trunkline.admin().topics()) {
                warn(out, topic);
            }
            out.flush();
        }
    }

    private static void warn(PrintWriter out, TopicHealth topic) {
        if (topic.unheard()) {
            out.println("topic " + topic.topic() + " has no group: nobody gets its messages");
        }
        topic.pinnedBy()
                .ifPresent(group -> out.printf(
                        "topic %s: group %s holds back %d bytes since %s%n",
                        topic.topic(),
                        group,
                        topic.pinnedBytes(),
                        topic.pinnedSince().orElseThrow()));
        if (topic.fallingBehind()) {
            out.println("topic " + topic.topic() + ": upkeep is falling behind, old segments are still there");
        }
    }

    @Command(description = "Pause a group in all processes; it keeps its place.")
    void pause(
            @Mixin ConnectionOptions at,
            @Parameters(paramLabel = "GROUP") String group,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Option(names = "--json", description = AS_STATE) boolean asJson) {
        change(at, admin -> admin.pause(group, topic), admin -> state(admin, group, topic, asJson, "paused"));
    }

    @Command(description = "Let a paused group go on.")
    void resume(
            @Mixin ConnectionOptions at,
            @Parameters(paramLabel = "GROUP") String group,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Option(names = "--json", description = AS_STATE) boolean asJson) {
        change(at, admin -> admin.resume(group, topic), admin -> state(admin, group, topic, asJson, "resumed"));
    }

    @Command(description = "End a group for good.")
    void cancel(
            @Mixin ConnectionOptions at,
            @Parameters(paramLabel = "GROUP") String group,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Option(names = "--json", description = AS_STATE) boolean asJson) {
        change(at, admin -> admin.cancel(group, topic), admin -> state(admin, group, topic, asJson, "cancelled"));
    }

    @Command(description = "Call a dead group back to life.")
    void resurrect(
            @Mixin ConnectionOptions at,
            @Parameters(paramLabel = "GROUP") String group,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Option(names = "--without-history", description = "It begins at the end of the log.") boolean without,
            @Option(names = "--most", paramLabel = "N", description = "It begins so many messages before the end.")
                    @Nullable
                    Long most,
            @Option(names = "--json", description = AS_STATE) boolean asJson) {
        if (most != null && most < 1) {
            throw new ParameterException(
                    command.commandLine(), "--most is " + most + ": use 1 or more, or --without-history");
        }
        if (most != null && without) {
            throw new ParameterException(command.commandLine(), "--most is of no use --without-history: choose one");
        }
        change(
                at,
                admin -> {
                    if (most == null) {
                        admin.resurrect(group, topic, !without);
                    } else {
                        admin.resurrect(group, topic, most);
                    }
                },
                admin -> state(admin, group, topic, asJson, "resurrected"));
    }

    /** What to do about a group's history. */
    enum History {
        SHOW,
        CANCEL,
        RESUME,
        SKIP
    }

    @Command(
            name = "catch-up",
            description = "Show how far a group is with what lay in the log when it began, or stop it there.")
    void catchUp(
            @Mixin ConnectionOptions at,
            @Parameters(paramLabel = "GROUP") String group,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Parameters(
                            paramLabel = "WHAT",
                            arity = "0..1",
                            defaultValue = "show",
                            description =
                                    "show; cancel: it stops and keeps its place; resume; skip: the rest is passed over.")
                    History what,
            @Option(names = "--json", description = "As JSON.") boolean asJson) {
        change(
                at,
                admin -> {
                    switch (what) {
                        case SHOW -> {}
                        case CANCEL -> admin.cancelCatchUp(group, topic);
                        case RESUME -> admin.resumeCatchUp(group, topic);
                        case SKIP -> admin.skipCatchUp(group, topic);
                    }
                },
                admin -> asJson
                        ? Output.json(admin.catchUp(group, topic))
                        : admin.catchUp(group, topic)
                                .map(now -> "%s: %d of %d messages, %.1f a second%s"
                                        .formatted(
                                                now.state().name().toLowerCase(Locale.ROOT),
                                                now.done(),
                                                now.total(),
                                                now.messagesPerSecond(),
                                                now.remaining()
                                                        .map(left -> ", " + left.toSeconds() + " seconds to go")
                                                        .orElse("")))
                                .orElse("it had no history to catch up with"));
    }

    @Command(description = "List groups that subscribe to topics by a pattern.")
    void wildcards(@Mixin ConnectionOptions at, @Option(names = "--json", description = AS_JSON) boolean asJson) {
        try (Trunkline trunkline = at.open()) {
            List<Wildcard> wildcards = trunkline.admin().wildcards();
            if (asJson) {
                command.commandLine().getOut().println(Output.json(wildcards));
                return;
            }
            Table table = new Table("GROUP", "TOPICS BY", "TOPICS");
            wildcards.forEach(wildcard -> table.row(wildcard.group(), wildcard.pattern(), wildcard.topics()));
            table.print(command);
        }
    }

    @Command(description = "Declare done what a group has not done, up to the end of the log.")
    void complete(
            @Mixin ConnectionOptions at,
            @Parameters(paramLabel = "GROUP") String group,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Option(names = "--json", description = "As JSON: how many messages were completed.") boolean asJson) {
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = at.open()) {
            long messages = trunkline.admin().forceComplete(group, topic);
            out.println(asJson ? Output.json(Map.of("completed", messages)) : messages + " messages completed");
        }
    }

    @Command(description = "List what a group was not given.")
    void gaps(
            @Mixin ConnectionOptions at,
            @Parameters(paramLabel = "GROUP") String group,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Option(names = "--json", description = AS_JSON) boolean asJson) {
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = at.open()) {
            List<Gap> gaps = trunkline.admin().gaps(group, topic);
            if (asJson) {
                out.println(Output.json(gaps));
                return;
            }
            for (Gap gap : gaps) {
                out.printf(
                        "%s: offsets %d up to %d, %s at %s%n",
                        Output.strand(gap.partition(), gap.priority()), gap.from(), gap.to(), gap.reason(), gap.at());
            }
            out.flush();
        }
    }

    private static String state(ConsumerGroupAdmin admin, String group, String topic, boolean asJson, String done) {
        return asJson ? Output.json(admin.find(group, topic).orElseThrow()) : done;
    }

    private void change(
            ConnectionOptions at, Consumer<ConsumerGroupAdmin> change, Function<ConsumerGroupAdmin, String> done) {
        try (Trunkline trunkline = at.open()) {
            change.accept(trunkline.admin());
            command.commandLine().getOut().println(done.apply(trunkline.admin()));
        }
    }
}
