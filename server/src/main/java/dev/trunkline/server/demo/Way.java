package dev.trunkline.server.demo;

/** How a message is published. */
enum Way {
    ON_ITS_OWN("on its own", 4),
    IN_TRANSACTION("in a transaction", 3),
    DELAYED("delayed", 1);

    final String text;
    final int writers;

    Way(String text, int writers) {
        this.text = text;
        this.writers = writers;
    }
}
