package dev.trunkline.server;

import dev.trunkline.Message;
import dev.trunkline.PayloadTooLargeException;
import dev.trunkline.Priority;
import dev.trunkline.Receipt;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline publish}. */
@Command(name = "publish", description = "Publish a message.")
final class PublishCommand implements Callable<Integer> {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Parameters(index = "0", paramLabel = "TOPIC")
    String topic = "";

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "PAYLOAD",
            description = "Text. Without it, what comes from standard input, byte for byte.")
    @Nullable
    String payload;

    @Option(names = "--key", description = "Messages of one key stay in order.")
    @Nullable
    String key;

    @Option(names = "--header", paramLabel = "NAME=VALUE", description = "A header; as many as you like.")
    Map<String, String> headers = new LinkedHashMap<>();

    @Option(names = "--delay", paramLabel = "DURATION", description = "Not before so long from now, such as PT5S.")
    Duration delay = Duration.ZERO;

    @Option(names = "--priority", description = "One of ${COMPLETION-CANDIDATES}.")
    Priority priority = Priority.NORMAL;

    @Option(names = "--content-type", description = "text/plain by default, if the payload is text.")
    @Nullable
    String contentType;

    @Option(names = "--idempotency-key", description = "The first message with it enters the log, others do not.")
    @Nullable
    String idempotencyKey;

    @Option(names = "--json", description = "Print the receipt as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException {
        try (Trunkline trunkline = database.open()) {
            byte[] bytes = payload == null ? standardInput(trunkline) : payload.getBytes(StandardCharsets.UTF_8);
            Receipt receipt = trunkline.publisher().publish(message(bytes));
            trunkline.relayNow();
            command.commandLine().getOut().println(json ? Output.json(receipt) : describe(receipt));
        }
        return 0;
    }

    /** Not more of it than the topic takes: it may have no end. */
    private byte[] standardInput(Trunkline trunkline) throws IOException {
        int most = trunkline
                .topics()
                .find(topic)
                .orElse(TopicConfiguration.queue(
                        topic)) // what becomes of one that there is not, is said when it is published
                .maxPayloadBytes();
        byte[] bytes = System.in.readNBytes(most + 1);
        if (bytes.length > most) {
            throw new PayloadTooLargeException("standard input is longer than the " + most + " bytes that topic \""
                    + topic + "\" takes: trunkline topics alter --max-payload-bytes allows more, up to 268435456");
        }
        return bytes;
    }

    private Message message(byte[] bytes) {
        Message message =
                Message.of(topic, bytes).withHeaders(headers).withDelay(delay).withPriority(priority);
        if (key != null) {
            message = message.withKey(key);
        }
        if (idempotencyKey != null) {
            message = message.withIdempotencyKey(idempotencyKey);
        }
        if (contentType != null) {
            return message.withContentType(contentType);
        }
        return Output.text(bytes).isPresent() ? message.withContentType("text/plain") : message;
    }

    private String describe(Receipt receipt) {
        if (receipt.duplicate()) {
            return "message " + receipt.id() + " has this idempotency key already: nothing was added";
        }
        return receipt.offset().isPresent()
                ? "message " + receipt.id() + " is in "
                        + Output.strand(receipt.partition().orElseThrow(), priority.code()) + " at offset "
                        + receipt.offset().getAsLong()
                : "message " + receipt.id() + " is accepted and gets its offset when it is due or its lane is free";
    }
}
