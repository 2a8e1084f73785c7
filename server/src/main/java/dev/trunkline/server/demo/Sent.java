package dev.trunkline.server.demo;

/**
 * What a writer knows of an order.
 *
 * @param began before the call to publish
 * @param ended after the call, or the transaction around it, had returned
 */
record Sent(Order order, Outcome outcome, long began, long ended) {

    enum Outcome {
        /** It must be in the log. */
        COMMITTED,
        /** It must not be in the log. */
        ROLLED_BACK,
        /** The connection was lost at the commit: it may be in the log, once. */
        UNKNOWN
    }

    boolean committed() {
        return outcome == Outcome.COMMITTED;
    }
}
