package dev.trunkline.benchmarks.peer;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.serializer.Serializer;
import com.github.kagkarlsson.scheduler.task.FailureHandler;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.nio.ByteBuffer;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** db-scheduler, each message a task that is due at once. */
final class DbScheduler implements Peer {

    private static final String TABLE = "trunkline_bench_db_scheduler.scheduled_tasks";
    private static final String TASK = "letter";
    private static final int THREADS = 10;

    // Times the threads. With the defaults, a half and one, the threads wait for the next fetch most of the time.
    private static final double FETCH_AT = 4;
    private static final double FETCH_UP_TO = 12;

    private static final Duration POLLING_INTERVAL = Duration.ofMillis(100);
    private static final Sql SQL = Sql.beside(DbScheduler.class, "db-scheduler.sql");

    private final Address address;

    DbScheduler(Address address) {
        this.address = address;
    }

    /** As a table that has been in use: analyzed when it was full, so that the scheduler goes by the indexes, and then emptied. */
    @Override
    public void clear(int groups) throws SQLException {
        Peer.requireOneGroup(groups);
        Query.execute(address, SQL.get("create"), SQL.get("use"), SQL.get("analyze"), SQL.get("empty"));
    }

    @Override
    public Member join() {
        return new Joined(Pool.open(address));
    }

    @Override
    public void close() {}

    private static final class Joined implements Member {
        private final HikariDataSource pool;
        private volatile Handler handler = Joined::refuse;
        private final Scheduler scheduler;

        Joined(HikariDataSource pool) {
            this.pool = pool;
            OneTimeTask<Letter> task = Tasks.oneTime(TASK, Letter.class)
                    .onFailure(FailureHandler.<Letter>maxRetries(TRIES - 1)
                            .retryEvery(Duration.ofMillis(RETRY_MILLIS))
                            .thenRemove())
                    .execute((instance, context) -> handle(instance.getData()));
            this.scheduler = Scheduler.create(pool, task)
                    .tableName(TABLE)
                    .serializer(new Bytes())
                    .threads(THREADS)
                    .pollUsingLockAndFetch(FETCH_AT, FETCH_UP_TO)
                    .pollingInterval(POLLING_INTERVAL)
                    .enableImmediateExecution()
                    .build();
        }

        private static void refuse(Letter letter) {
            throw new IllegalStateException("nobody consumes here, but was given a message of " + letter.key());
        }

        private void handle(Letter letter) {
            try {
                handler.handle(letter);
            } catch (Exception e) {
                throw new IllegalStateException("a handler has failed", e);
            }
        }

        /** A batch even of one: to schedule one alone asks first whether it is there already. */
        @Override
        public Sender sender() {
            Numbered ids = new Numbered();
            return letters -> {
                List<TaskInstance<?>> tasks = new ArrayList<>(letters.size());
                letters.forEach(letter -> tasks.add(new TaskInstance<>(TASK, ids.next(), letter)));
                scheduler.scheduleBatch(tasks, Instant.now());
            };
        }

        @Override
        public void consume(int group, Handler handler) {
            this.handler = handler;
            scheduler.start();
        }

        @Override
        public void close() {
            scheduler.stop();
            pool.close();
        }
    }

    /** Names that are nobody else's, neighbours in an index. */
    private static final class Numbered {
        private final String prefix = UUID.randomUUID() + "-";
        private long last;

        String next() {
            last++;
            return prefix + last;
        }
    }

    /** The length of the key, the key, and the payload. */
    private static final class Bytes implements Serializer {

        @Override
        public byte[] serialize(Object data) {
            Letter letter = (Letter) data;
            byte[] key = letter.key().getBytes(UTF_8);
            return ByteBuffer.allocate(Integer.BYTES + key.length + letter.payload().length)
                    .putInt(key.length)
                    .put(key)
                    .put(letter.payload())
                    .array();
        }

        @Override
        public <T> T deserialize(Class<T> type, byte[] bytes) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            byte[] key = new byte[buffer.getInt()];
            buffer.get(key);
            byte[] payload = new byte[buffer.remaining()];
            buffer.get(payload);
            return type.cast(new Letter(new String(key, UTF_8), payload));
        }
    }
}
