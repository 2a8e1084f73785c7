package dev.trunkline.server.http;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** The memory that large bodies and answers may take, all together: who needs more than is left waits for it, and is told to come again. */
final class Room {

    /** What a batch takes at most while it is read; but for one message that is larger. */
    static final long BATCH = 3 * (16L << 20);

    /** What a page takes, which is read piece by piece: the last of them may be as large as a batch. */
    static final long PAGE = 2 * BATCH;

    /** What is smaller than this is not counted. */
    static final long SMALL = 64L << 10;

    /** What is told lies in memory as it came from the database, as bytes, and as text. */
    static final int TOLD = 3;

    /** What is said does as text, as bytes, and on its way to the database. */
    static final int HEARD = 5;

    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final int UNIT = 1024;

    private final int all;
    private final Semaphore left;
    private final Duration patience;

    Room(long bytes) {
        this(bytes, PATIENCE);
    }

    Room(long bytes, Duration patience) {
        this.all = (int) Math.min(Integer.MAX_VALUE, Math.max(1, bytes / UNIT));
        this.left = new Semaphore(all, true);
        this.patience = patience;
    }

    /** What one request has of it. Not for several threads at once. */
    final class Share implements AutoCloseable {
        private int size;

        /**
         * So many bytes from now on. Who needs more than there is in all goes alone.
         *
         * @throws Problem if they are not there in time; then it has none
         */
        void take(long bytes) {
            int wanted = bytes < SMALL ? 0 : (int) Math.min(all, bytes / UNIT);
            if (wanted <= size) {
                left.release(size - wanted);
                size = wanted;
                return;
            }
            close();
            try {
                if (!left.tryAcquire(wanted, patience.toNanos(), TimeUnit.NANOSECONDS)) {
                    throw new Problem(503, "there is no room for more large bodies and answers at once: try again");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw HttpServer.stops();
            }
            size = wanted;
        }

        @Override
        public void close() {
            left.release(size);
            size = 0;
        }
    }
}
