package dev.trunkline.consume;

import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.consume.LetterTable.Burial;
import dev.trunkline.consume.LetterTable.Mark;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

/** The transactions in which handlers have their effects. Each ends with the record of its messages, or nothing of it has happened. */
final class Transactions {

    private final LetterTable letters;
    private final Duration timeout;
    private final Predicate<Owned> live;

    /** @param timeout of a handler */
    Transactions(LetterTable letters, Duration timeout, Predicate<Owned> live) {
        this.letters = letters;
        this.timeout = timeout;
        this.live = live;
    }

    /** There was no connection for a handler: nobody's failure. */
    static final class NotBegun extends Exception {
        private static final long serialVersionUID = 1L;

        NotBegun(Exception cause) {
            super(cause);
        }
    }

    /** The partition may belong to somebody else by now. */
    static final class Late extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** The handler took so long that its message was given up. */
    static final class Abandoned extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** Runs something in a transaction. Until there is a connection nothing has begun, and no time counts. */
    void run(Worker worker, Run run, Mark mark, LetterTable.Body body) throws Exception {
        endOf(worker);
        boolean[] begun = new boolean[1];
        try {
            letters.transact(mark, timeout.toMillis() + 1, connection -> {
                if (!live.test(run.owned)) {
                    throw new Late();
                }
                begun[0] = true;
                List<Burial> burials = body.on(connection);
                endOf(worker);
                return burials;
            });
        } catch (Exception e) {
            if (!begun[0]) {
                throw new NotBegun(e);
            }
            // To try again before it is known could do it twice.
            if (!(e instanceof OutcomeUnknownException) || !letters.wasRecorded(mark)) {
                throw e;
            }
        }
    }

    static void endOf(Worker worker) throws Abandoned {
        if (!worker.end()) {
            throw new Abandoned();
        }
    }
}
