package dev.trunkline.faults;

/** What counts as an event of a trial: where publishers or callers do the bad thing themselves, each time that one did. */
enum Tally {
    STRIKES,
    /** Transactions, of which each is late. */
    TRANSACTIONS,
    ROLLBACKS,
    /** What was said to it that nobody expects. */
    INPUTS;

    /** @param strikes how often something was done to all */
    int count(int strikes, Deeds deeds) {
        return switch (this) {
            case STRIKES, INPUTS -> strikes;
            case TRANSACTIONS -> deeds.transactions();
            case ROLLBACKS -> deeds.rollbacks();
        };
    }
}
