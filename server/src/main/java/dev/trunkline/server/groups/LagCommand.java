package dev.trunkline.server.groups;

import dev.trunkline.ConsumerGroupAdmin;
import dev.trunkline.ConsumerGroupAdmin.GroupState;
import dev.trunkline.ConsumerGroupAdmin.Lag;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.GroupStatus;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import dev.trunkline.server.Table;
import dev.trunkline.server.Terminal;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline lag}. */
@Command(
        name = "lag",
        description = "Tell how far groups are behind: in messages, and by the age of the oldest one that is not done,"
                + " parked ones included.")
public final class LagCommand implements Callable<Integer> {

    private static final String CLEAR = "\033[H\033[J";

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Parameters(index = "0", arity = "0..1", paramLabel = "GROUP", description = "Only this one.")
    @Nullable
    String group;

    @Parameters(index = "1", arity = "0..1", paramLabel = "TOPIC", description = "Only on this topic.")
    @Nullable
    String topic;

    @Option(names = "--partitions", description = "A line for each partition.")
    boolean partitions;

    @Option(
            names = "--watch",
            paramLabel = "DURATION",
            arity = "0..1",
            fallbackValue = "PT2S",
            description = "Tell again and again, every two seconds or so often, until Ctrl-C.")
    @Nullable
    Duration watch;

    @Option(names = "--json", description = "As a JSON array.")
    boolean json;

    /**
     * A group's lag.
     *
     * @param pending messages in the log that are not done
     * @param parked messages that wait aside for a blocked key
     * @param seconds the age of the oldest of both; null: there are none
     * @param partitions null: they were not asked for
     */
    record Told(
            String group,
            String topic,
            long pending,
            long parked,
            @Nullable Double seconds,
            @Nullable List<Partition> partitions) {}

    /** The same, of one partition. */
    record Partition(
            int partition,
            int priority,
            long cursor,
            long end,
            long pending,
            long parked,
            @Nullable Double seconds) {

        static Partition of(Lag lag) {
            return new Partition(
                    lag.partition(),
                    lag.priority(),
                    lag.cursor(),
                    lag.end(),
                    lag.pending(),
                    lag.parked(),
                    LagCommand.seconds(lag.age()));
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        if (watch != null && watch.compareTo(Duration.ofMillis(1)) < 0) {
            throw new ParameterException(command.commandLine(), "--watch is " + watch + ": use more than zero");
        }
        PrintWriter out = command.commandLine().getOut();
        try (Trunkline trunkline = database.open()) {
            print(groups(trunkline.admin()), out);
            while (watch != null && !out.checkError()) {
                Thread.sleep(watch);
                print(groups(trunkline.admin()), out);
            }
        }
        return 0;
    }

    private List<Told> groups(ConsumerGroupAdmin admin) {
        List<Told> found = admin.groups().stream()
                .filter(each -> each.status() != GroupStatus.CANCELLED)
                .filter(each -> group == null || group.equals(each.name()))
                .filter(each -> topic == null || topic.equals(each.topic()))
                .map(each -> lag(admin, each))
                .flatMap(Optional::stream)
                .toList();
        if (found.isEmpty() && group != null) {
            throw new ConsumerGroupException("there is no group \"" + group + "\""
                    + (topic == null ? "" : " of topic \"" + topic + "\"") + ": see the list, trunkline groups");
        }
        return found;
    }

    /** Empty: it has been cancelled meanwhile, or its topic dropped. */
    private Optional<Told> lag(ConsumerGroupAdmin admin, GroupState state) {
        List<Lag> lags;
        try {
            lags = admin.lag(state.name(), state.topic());
        } catch (ConsumerGroupException | UnknownTopicException e) {
            return Optional.empty();
        }
        return Optional.of(new Told(
                state.name(),
                state.topic(),
                lags.stream().mapToLong(Lag::pending).sum(),
                lags.stream().mapToLong(Lag::parked).sum(),
                seconds(lags.stream().flatMap(lag -> lag.age().stream()).max(Duration::compareTo)),
                partitions ? lags.stream().map(Partition::of).toList() : null));
    }

    private static @Nullable Double seconds(Optional<Duration> age) {
        return age.map(value -> value.toMillis() / 1_000.0).orElse(null);
    }

    private void print(List<Told> groups, PrintWriter out) {
        if (json) {
            out.println(Output.json(groups));
            out.flush();
            return;
        }
        if (watch != null && Terminal.of(command).redrawn()) {
            out.print(CLEAR);
        }
        Table table = partitions
                ? new Table(
                        "GROUP", "TOPIC", "PARTITION", "PRIORITY", "DONE UP TO", "END", "PENDING", "PARKED", "SECONDS")
                : new Table("GROUP", "TOPIC", "PENDING", "PARKED", "SECONDS");
        for (Told told : groups) {
            if (told.partitions() == null) {
                table.row(told.group(), told.topic(), told.pending(), told.parked(), shown(told.seconds()));
            } else {
                told.partitions()
                        .forEach(each -> table.row(
                                told.group(),
                                told.topic(),
                                each.partition(),
                                each.priority(),
                                each.cursor(),
                                each.end(),
                                each.pending(),
                                each.parked(),
                                shown(each.seconds())));
            }
        }
        table.print(command);
    }

    private static Object shown(@Nullable Double seconds) {
        return seconds == null ? "-" : BigDecimal.valueOf(seconds).setScale(1, RoundingMode.HALF_UP);
    }
}
