package dev.trunkline.benchmarks;

import dev.trunkline.SubscriptionOptions;
import java.sql.SQLException;

/** Publishers and one group, in one process, at the same time: a message counts once it is handled. */
final class PublishAndConsume implements AutoCloseable {

    static final int PUBLISHERS = 2;
    static final int BATCH = 100;

    private final Crew publishers;
    private final CountedGroup group;
    private long published;

    PublishAndConsume(Installation installation) throws Exception {
        this(installation, PUBLISHERS, BATCH);
    }

    /** @param batch how many messages a publisher hands in at a time */
    PublishAndConsume(Installation installation, int publishers, int batch) throws Exception {
        this.publishers = installation.publishers(publishers, batch);
        this.group =
                new CountedGroup(installation.trunkline(), "end-to-end").start(SubscriptionOptions.fromBeginning());
    }

    /** Publishes for so long and waits until all is handled. Returns the messages in a second. */
    double rate(double seconds) throws Exception {
        long began = System.nanoTime();
        long messages = publishers.work(seconds);
        published += messages;
        group.await(published);
        return messages * 1e9 / (System.nanoTime() - began);
    }

    /** Fails unless every message was handled once. */
    @Override
    public void close() throws SQLException {
        publishers.close();
        group.closeAt(published);
    }
}
