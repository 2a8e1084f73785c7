package dev.trunkline;

/** A {@link Handler.Decision} as a handler: what is not done is thrown. */
record DecidingHandler<T>(Handler.Decision<T> decision) implements Handler<T> {

    @Override
    public void handle(Delivery<T> delivery) throws Exception {
        Outcome outcome = decision.handle(delivery);
        if (outcome == null) {
            throw new NullPointerException("the handler returned null: return an Outcome");
        }
        if (!(outcome instanceof Outcome.Done)) {
            throw new Outcome.Undone(outcome);
        }
    }
}
