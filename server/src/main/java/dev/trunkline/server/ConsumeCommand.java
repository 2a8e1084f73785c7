package dev.trunkline.server;

import dev.trunkline.Batch;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.Delivery;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.Start;
import dev.trunkline.Trunkline;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
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

/** {@code trunkline consume}. */
@Command(
        name = "consume",
        description = {
            "Take messages from a group and print them, one a line, until Ctrl-C.",
            "What is printed is done for the group; what is not comes again."
        })
final class ConsumeCommand implements Callable<Integer> {

    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final Duration LONGEST_LEASE = Duration.ofDays(1);
    private static final int LARGEST_BATCH = 100;

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Parameters(paramLabel = "TOPIC")
    String topic = "";

    @Option(
            names = "--group",
            paramLabel = "GROUP",
            defaultValue = ConsumerGroup.SHARED,
            description =
                    "The group, which is made if there is none: shared by default, as the one of a queue is called.")
    String group = ConsumerGroup.SHARED;

    @Option(
            names = "--from",
            paramLabel = "PLACE",
            description = "Where a new group begins: now, beginning, offset:N, message:ID, or a time."
                    + " By default that of a queue at the beginning, others as the installation has chosen.")
    @Nullable
    String from;

    @Option(names = "--count", paramLabel = "N", description = "End after so many messages.")
    long count = Long.MAX_VALUE;

    @Option(
            names = "--lease",
            paramLabel = "DURATION",
            defaultValue = "PT30S",
            description =
                    "So long after this process has died, what it had taken and not printed comes again: PT30S by default.")
    Duration lease = Duration.ofSeconds(30);

    @Option(names = "--json", description = "Print messages as JSON, with all that belongs to them.")
    boolean json;

    @Override
    public Integer call() throws InterruptedException {
        if (count < 0) {
            throw new ParameterException(command.commandLine(), "--count is " + count + ": use zero or more");
        }
        if (!lease.isPositive() || lease.compareTo(LONGEST_LEASE) > 0) {
            throw new ParameterException(
                    command.commandLine(), "--lease is " + lease + ": use more than zero, and a day at most");
        }
        Start start = start();
        PrintWriter out = command.commandLine().getOut();
        try (Interrupts interrupts = new Interrupts();
                Trunkline trunkline =
                        database.address().installation().migrate(false).open()) {
            PullConsumer<byte[]> messages = trunkline.pull(group, topic, byte[].class, PullOptions.from(start));
            long left = count;
            while (left > 0 && interrupts.stop().getCount() > 0 && !out.checkError()) {
                Optional<Batch<byte[]>> batch = messages.pop((int) Math.min(left, LARGEST_BATCH), lease, PATIENCE);
                if (batch.isPresent()) {
                    Batch<byte[]> taken = batch.get();
                    left -= new Lease(messages, taken.token(), lease).during(() -> print(taken, messages, out));
                }
            }
        }
        return 0;
    }

    private Start start() {
        try {
            return from == null ? Start.byDefault() : Start.parse(from);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), e.getMessage(), e);
        }
    }

    /** What the reader of a pipe has not got, because it has gone, is released: nobody has tried it. Returns how many were printed. */
    private int print(Batch<byte[]> batch, PullConsumer<byte[]> messages, PrintWriter out) {
        List<Long> printed = new ArrayList<>();
        for (Delivery<byte[]> delivery : batch.deliveries()) {
            out.println(Output.line(delivery.message(), json));
            if (out.checkError()) {
                break;
            }
            printed.add(delivery.message().offset());
        }
        if (printed.size() == batch.deliveries().size()) {
            messages.ack(batch.token());
        } else {
            if (!printed.isEmpty()) {
                messages.ack(batch.token(), printed);
            }
            messages.release(batch.token());
        }
        return printed.size();
    }
}
