package dev.trunkline.benchmarks.peer;

/** Tries a message again on the spot, so that none of its key overtakes it, and skips it after the last try. */
record Insistent(Handler handler) implements Handler {

    @Override
    public void handle(Letter letter) throws InterruptedException {
        for (int tries = 1; !handles(letter) && tries < Peer.TRIES; tries++) {
            Thread.sleep(Peer.RETRY_MILLIS);
        }
    }

    private boolean handles(Letter letter) {
        try {
            handler.handle(letter);
            return true;
        } catch (Exception e) {
            return false;
        }
    }
}
