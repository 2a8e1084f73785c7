package dev.trunkline.testing;

import dev.trunkline.InvalidMessageException;
import dev.trunkline.Message;
import dev.trunkline.Receipt;
import dev.trunkline.Trunkline;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** A process with little memory that publishes much to the topic {@code t}, and says what became of it: a line for each try. */
public final class LargeProcess {

    private static final int MEBIBYTE = 1024 * 1024;

    private LargeProcess() {}

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        String user = arguments[1];
        String password = arguments[2];
        try (Trunkline trunkline = Trunkline.open(url, user, password);
                Connection connection = DriverManager.getConnection(url, user, password)) {
            Message huge = Message.of("t", new byte[100 * MEBIBYTE]);
            Message whole = Message.of("t", new byte[MEBIBYTE]);
            say("alone", () -> trunkline.publisher().publish(huge));
            say("beside others", () -> trunkline.publisher().publishAll(List.of(whole, huge)));
            say("in a transaction", () -> trunkline.publisher().publish(connection, huge));
            say("batch in a transaction", () -> trunkline.publisher().publishAll(connection, List.of(whole, huge)));
            say("more than its memory", () -> {
                List<CompletableFuture<Receipt>> receipts = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    receipts.add(trunkline.publisher().publishAsync(whole));
                }
                receipts.forEach(CompletableFuture::join);
            });
            say(
                    "a batch of 10000",
                    () -> trunkline
                            .publisher()
                            .publishAll(IntStream.range(0, 10_000)
                                    .mapToObj(
                                            i -> Message.of("t", new byte[1024]).withKey("k" + i))
                                    .toList()));
            say(
                    "a batch of 10000 in a transaction",
                    () -> trunkline
                            .publisher()
                            .publishAll(
                                    connection,
                                    IntStream.range(0, 10_000)
                                            .mapToObj(i -> Message.of("t", new byte[1024]))
                                            .toList()));
            Map<String, String> headers = new HashMap<>();
            IntStream.range(0, 100_000).forEach(i -> headers.put("h" + i, "v"));
            say("100000 headers", () -> trunkline.publisher().publish(whole.withHeaders(headers)));
        }
    }

    private interface Try {
        void run() throws Exception;
    }

    private static void say(String what, Try it) throws Exception {
        String outcome;
        try {
            it.run();
            outcome = "taken";
        } catch (InvalidMessageException e) {
            outcome = "refused";
        }
        System.out.println(what + ": " + outcome);
    }
}
