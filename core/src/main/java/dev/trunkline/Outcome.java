package dev.trunkline;

import java.time.Duration;
import java.util.Objects;

/** What became of a message, in the words of its handler. */
public sealed interface Outcome {

    /** It is done. */
    static Outcome done() {
        return new Done();
    }

    /** Try it again, not before this time has passed. It counts as a failed attempt. */
    static Outcome retryAfter(Duration delay) {
        return new RetryAfter(delay);
    }

    /** It will never succeed: put it with the dead letters now. */
    static Outcome reject(String reason) {
        return new Reject(reason);
    }

    /** It is done. */
    record Done() implements Outcome {}

    /** Not before this time has passed. */
    record RetryAfter(Duration delay) implements Outcome {
        public RetryAfter {
            if (delay.isNegative() || delay.compareTo(RetryPolicy.LONGEST) > 0) {
                throw new IllegalArgumentException("a message can not be tried again after " + delay);
            }
        }
    }

    /** For the dead letters. */
    record Reject(String reason) implements Outcome {
        public Reject {
            Objects.requireNonNull(reason, "reason");
        }
    }

    /** How an outcome other than done leaves a handler; any handler may throw it. */
    final class Undone extends TrunklineException {

        private static final long serialVersionUID = 1L;

        private final transient Outcome outcome;

        public Undone(Outcome outcome) {
            super(
                    switch (outcome) {
                        case Done done -> throw new IllegalArgumentException("done is nothing to throw: return");
                        case RetryAfter retry -> "the handler asks for another try after " + retry.delay();
                        case Reject reject -> "the handler rejects it: " + reject.reason();
                    });
            this.outcome = outcome;
        }

        public Outcome outcome() {
            return outcome;
        }
    }
}
