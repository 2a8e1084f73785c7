package dev.trunkline.benchmarks.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jobrunr.jobs.Job;
import org.jobrunr.jobs.filters.RetryFilter;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.StorageProviderUtils.DatabaseOptions;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.utils.mapper.JsonMapper;
import org.jobrunr.utils.mapper.jackson3.Jackson3JsonMapper;
import org.jspecify.annotations.Nullable;

/** JobRunr, each message a job. It knows retries only in seconds, and looks for those that are due when it polls. */
final class JobRunner implements Peer {

    private static final String SCHEMA = "trunkline_bench_jobrunr";
    private static final int WORKERS = 32;
    private static final Duration POLL_INTERVAL = Duration.ofSeconds(5);
    private static final Sql SQL = Sql.beside(JobRunner.class, "jobrunr.sql");

    private final Address address;

    JobRunner(Address address) {
        this.address = address;
    }

    /** As a table that has been in use: analyzed when jobs waited, so that workers go by the right index; some have succeeded. */
    @Override
    public void clear(int groups) throws SQLException {
        Peer.requireOneGroup(groups);
        Query.execute(address, SQL.get("create"));
        try (HikariDataSource pool = Pool.open(address)) {
            storage(pool, DatabaseOptions.CREATE).close();
        }
        Query.execute(address, SQL.get("use"), SQL.get("analyze"), SQL.get("finish"));
    }

    @Override
    public Member join() {
        return new Joined(Pool.open(address));
    }

    @Override
    public void close() {}

    private static StorageProvider storage(HikariDataSource pool, DatabaseOptions options) {
        return new PostgresStorageProvider(pool, SCHEMA + ".", options);
    }

    private static final class Joined implements Member {
        private final HikariDataSource pool;
        private final JsonMapper json = new Jackson3JsonMapper();
        private final StorageProvider storage;
        private final JobRequestScheduler scheduler;
        private @Nullable BackgroundJobServer server;

        Joined(HikariDataSource pool) {
            this.pool = pool;
            this.storage = storage(pool, DatabaseOptions.SKIP_CREATE);
            storage.setJobMapper(new JobMapper(json));
            this.scheduler = new JobRequestScheduler(storage);
        }

        @Override
        public Sender sender() {
            return letters -> {
                if (letters.size() == 1) {
                    scheduler.enqueue(Request.of(letters.getFirst()));
                } else {
                    scheduler.enqueue(letters.stream().map(Request::of));
                }
            };
        }

        @Override
        public void consume(int group, Handler handler) {
            server = new BackgroundJobServer(
                    storage,
                    json,
                    always(new Performer(handler)),
                    BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                            .andPollInterval(POLL_INTERVAL)
                            .andWorkerCount(WORKERS));
            server.setJobFilters(List.of(new Retry()));
            server.start();
        }

        private static JobActivator always(Performer performer) {
            return new JobActivator() {
                @Override
                public <T> T activateJob(Class<T> type) {
                    return type.cast(performer);
                }
            };
        }

        @Override
        public void close() {
            if (server != null) {
                server.stop();
            }
            storage.close();
            pool.close();
        }
    }

    /** A message as a job. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Request(String key, byte[] payload) implements JobRequest {
        static Request of(Letter letter) {
            return new Request(letter.key(), letter.payload());
        }

        @Override
        public Class<Performer> getJobRequestHandler() {
            return Performer.class;
        }
    }

    /** Runs jobs. Public, as it is called by reflection. */
    public record Performer(Handler handler) implements JobRequestHandler<Request> {
        @Override
        public void run(Request request) throws Exception {
            handler.handle(new Letter(request.key(), request.payload()));
        }
    }

    private static final class Retry extends RetryFilter {
        Retry() {
            super(TRIES - 1);
        }

        @Override
        protected long getSecondsToAdd(Job job) {
            return Duration.ofMillis(RETRY_MILLIS).toSeconds();
        }
    }
}
