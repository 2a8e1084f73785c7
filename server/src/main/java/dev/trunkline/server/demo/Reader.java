package dev.trunkline.server.demo;

import dev.trunkline.Codec;
import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Trunkline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Reads the whole log, from the beginning until told to finish and then to its end. */
final class Reader implements Callable<List<Seen>> {

    private static final Duration LOOK = Duration.ofMillis(200);

    private final Codec codec;
    private final Log.Tail tail;
    private final Tally tally;
    private volatile boolean finishing;

    Reader(Trunkline trunkline, Tally tally) {
        this.codec = trunkline.codec();
        this.tail = trunkline.log().fromBeginning(Publishing.TOPIC);
        this.tally = tally;
    }

    void finish() {
        finishing = true;
    }

    @Override
    public List<Seen> call() throws InterruptedException {
        List<Seen> seen = new ArrayList<>();
        while (true) {
            boolean last = finishing;
            List<LogMessage> messages = poll(last);
            long at = tally.now();
            messages.forEach(message -> seen.add(seen(message, at)));
            tally.read.add(messages.size());
            if (last && messages.isEmpty()) {
                return seen;
            }
        }
    }

    private List<LogMessage> poll(boolean last) throws InterruptedException {
        try {
            return tail.poll(last ? Duration.ZERO : LOOK);
        } catch (DatabaseUnavailableException | OutcomeUnknownException e) {
            if (last) {
                throw e;
            }
            return List.of();
        }
    }

    private Seen seen(LogMessage message, long at) {
        Order order = codec.decode(message.payload(), Order.class);
        return new Seen(order, message.key(), message.partition(), message.offset(), at);
    }
}
