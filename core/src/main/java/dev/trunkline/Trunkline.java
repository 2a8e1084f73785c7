package dev.trunkline;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.consume.Groups;
import dev.trunkline.database.Database;
import dev.trunkline.log.Bell;
import dev.trunkline.log.Doorbell;
import dev.trunkline.log.SegmentedLog;
import dev.trunkline.outbox.Outbox;
import dev.trunkline.outbox.Relay;
import dev.trunkline.publish.BatchingPublisher;
import dev.trunkline.pull.PullTable;
import dev.trunkline.pull.Puller;
import dev.trunkline.schema.Migrator;
import dev.trunkline.topic.TopicCatalogue;
import dev.trunkline.upkeep.Upkeep;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * An open installation of Trunkline: a schema in a PostgreSQL database. Keep one per process and close it at the end.
 *
 * {@snippet :
 * try (Trunkline trunkline = Trunkline.open("jdbc:postgresql://localhost/shop", "shop", "secret")) {
 *     trunkline.topics().configure(TopicConfiguration.pubSub("orders"));
 *     trunkline.publisher().publish(Message.of("orders", new OrderPlaced(42)).withKey("customer-7"));
 * }
 * }
 */
public final class Trunkline implements AutoCloseable {

    private final Database database;
    private final Codec codec;
    private final TopicCatalogue topics;
    private final BatchingPublisher publisher;
    private final SegmentedLog log;
    private final Relay relay;
    private final Upkeep upkeep;
    private final Groups groups;
    private final Doorbell doorbell;
    private final Bell bell;
    private final Duration pollInterval;

    private final Database own;
    private final AtomicBoolean closed = new AtomicBoolean();
    private @Nullable Thread hook;

    private Trunkline(Builder options, Database database, Database own) {
        this.database = database;
        this.own = own;
        this.codec = options.codec == null ? defaultCodec() : options.codec;
        this.bell = new Bell();
        this.pollInterval = options.pollInterval;
        Outbox outbox = new Outbox(database.schema());
        this.topics = new TopicCatalogue(database);
        Observer observer = Observers.of(options.observers);
        this.doorbell = new Doorbell(own, bell, options.pollInterval, observer);
        this.relay = new Relay(database, outbox, options.pollInterval, doorbell::ring, observer);
        this.publisher = new BatchingPublisher(database, codec, outbox, relay, topics, doorbell::ring, observer);
        this.log = new SegmentedLog(database, bell, doorbell, options.pollInterval);
        this.upkeep = new Upkeep(database, observer);
        this.groups = new Groups(database, own, options.poolSize, codec, log, bell, doorbell, options.lease, observer);
        if (options.backgroundWork) {
            relay.start();
            upkeep.start();
        }
        if (options.shutdownHook) {
            hook = new Thread(this::closeAll, "trunkline-shutdown");
            Runtime.getRuntime().addShutdownHook(hook);
        }
    }

    /** Opens the database at a JDBC URL, creating or updating the schema {@code trunkline} in it. */
    public static Trunkline open(String jdbcUrl, String user, String password) {
        return builder().url(jdbcUrl, user, password).open();
    }

    /** Opens a database through the application's own pool. */
    public static Trunkline open(DataSource dataSource) {
        return builder().dataSource(dataSource).open();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** What {@link Builder#migrate} would run on a new database, for people who apply it themselves. */
    public static String schemaScript(String schema) {
        return Migrator.script(schema);
    }

    /** The version that the schema must have: what table {@code migration} says in the end. */
    public static int schemaVersion() {
        return Migrator.newest();
    }

    public Topics topics() {
        return topics;
    }

    public Publisher publisher() {
        return publisher;
    }

    public Log log() {
        return log;
    }

    /**
     * A consumer group, in this process. It does nothing before it is started.
     *
     * @param type what payloads are decoded to: {@code byte[]}, {@code String}, or a class that the codec knows
     */
    public <T> ConsumerGroup<T> createConsumerGroup(String name, String topic, Class<T> type) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a group has a name: that of a queue is " + ConsumerGroup.SHARED);
        }
        return groups.create(name, topic, type);
    }

    /**
     * A consumer group of all pub/sub topics that fit a pattern, those to come included, in this process.
     *
     * @param type what payloads are decoded to
     * @param consumers adds its consumers to the group of each topic, before that is started
     */
    public <T> WildcardGroup<T> createConsumerGroup(
            String name, TopicPattern topics, Class<T> type, Consumer<ConsumerGroup<T>> consumers) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a group of several topics has a name: give it one");
        }
        return groups.create(name, topics, type, consumers);
    }

    /** The consumers of a queue, in this process: its one group, {@link ConsumerGroup#SHARED}, which all processes share. */
    public <T> ConsumerGroup<T> createConsumer(String topic, Class<T> type) {
        return groups.create(ConsumerGroup.SHARED, topic, type);
    }

    /**
     * A group that is pulled from, by callers that can not keep a handler running; it is made if it does not exist.
     *
     * @param group its name; {@link ConsumerGroup#SHARED} for the one group of a queue
     * @param type what payloads are decoded to: {@code byte[]}, {@code String}, or a class that the codec knows
     * @throws ConsumerGroupException if the group has handlers
     * @throws UnknownTopicException if there is no such topic
     */
    public <T> PullConsumer<T> pull(String group, String topic, Class<T> type, PullOptions options) {
        doorbell.startListening();
        return Puller.of(group, topic, type, options, codec, bell, pollInterval, new PullTable(database));
    }

    /** As {@link #pull(String, String, Class, PullOptions)}, from all pub/sub topics that fit a pattern, those to come included. */
    public <T> PullConsumer<T> pull(String group, TopicPattern topics, Class<T> type, PullOptions options) {
        doorbell.startListening();
        return Puller.of(group, topics, type, options, codec, bell, pollInterval, new PullTable(database));
    }

    /** Looks after groups, whether they run in this process or not. */
    public ConsumerGroupAdmin admin() {
        return groups.admin();
    }

    /** What payloads are encoded with. */
    public Codec codec() {
        return codec;
    }

    /**
     * Relays, in the calling thread, everything that is committed and due now, and returns how many messages got their
     * place. What is published meanwhile is not waited for; who is just appending is, a few seconds. What a topic fails of is
     * thrown when the others are done. For processes without background work, and for tests.
     */
    public long relayNow() {
        return relay.runOnce();
    }

    /** Runs the upkeep once, in the calling thread. For processes without background work, and for tests. */
    public void upkeepNow() {
        upkeep.runOnce();
    }

    /** Lets handlers end and publishes what was accepted, then stops. */
    @Override
    public void close() {
        if (hook != null) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                return; // the process is ending: the hook does it
            }
        }
        closeAll();
    }

    private void closeAll() {
        if (closed.getAndSet(true)) {
            return;
        }
        groups.close();
        publisher.close();
        relay.close();
        upkeep.close();
        doorbell.close();
        own.close();
        database.close();
    }

    private static Codec defaultCodec() {
        return ServiceLoader.load(Codec.class).findFirst().orElseGet(NoCodec::new);
    }

    /** How to open a {@link Trunkline}. */
    public static final class Builder {

        private @Nullable DataSource dataSource;
        private @Nullable String url;
        private @Nullable String user;
        private @Nullable String password;
        private int poolSize = 8;
        private String schema = "trunkline";
        private boolean migrate = true;
        private boolean backgroundWork = true;
        private Duration pollInterval = Duration.ofMillis(200);
        private Duration lease = Duration.ofSeconds(10);
        private boolean shutdownHook;
        private @Nullable String directUrl;
        private @Nullable Codec codec;
        private final List<Observer> observers = new ArrayList<>();

        private Builder() {}

        /** A JDBC URL of a PostgreSQL primary. Trunkline keeps a pool of its own. */
        public Builder url(String jdbcUrl, String newUser, String newPassword) {
            this.url = jdbcUrl;
            this.user = newUser;
            this.password = newPassword;
            return this;
        }

        /** The application's own pool. It must hand out connections with isolation READ COMMITTED, as is the default. */
        public Builder dataSource(DataSource newDataSource) {
            this.dataSource = newDataSource;
            return this;
        }

        /**
         * A JDBC URL that leads to PostgreSQL directly, where the other one goes through a pooler in transaction mode: for what listens and
         * for signs of life. The same user.
         */
        public Builder directUrl(String jdbcUrl) {
            this.directUrl = jdbcUrl;
            return this;
        }

        /** Whether to close when the JVM is shut down: false by default. Handlers then have half a minute to end. */
        public Builder shutdownHook(boolean newShutdownHook) {
            this.shutdownHook = newShutdownHook;
            return this;
        }

        /**
         * The most connections that Trunkline keeps for its work when opened by URL, or how many the application's own pool can give
         * it: 8 by default. Two less is the most transactional handlers that run at once.
         */
        public Builder poolSize(int connections) {
            if (connections < 2) {
                throw new IllegalArgumentException(
                        "a pool of " + connections + " connections is too small: use 2 or more");
            }
            this.poolSize = connections;
            return this;
        }

        /** The schema's name: {@code trunkline} by default, a plain lower-case identifier. */
        public Builder schema(String name) {
            this.schema = Migrator.checkedSchema(name);
            return this;
        }

        /** Whether to bring the schema up to date when opening: true by default. */
        public Builder migrate(boolean newMigrate) {
            this.migrate = newMigrate;
            return this;
        }

        /** Whether this process relays and does upkeep: true by default. Some process must. */
        public Builder backgroundWork(boolean newBackgroundWork) {
            this.backgroundWork = newBackgroundWork;
            return this;
        }

        /** How long, at most, something committed by others may wait to be noticed: 200 ms by default. */
        public Builder pollInterval(Duration interval) {
            if (interval.isNegative() || interval.isZero()) {
                throw new IllegalArgumentException(
                        "a poll interval of " + interval + " is too short: use more than zero");
            }
            this.pollInterval = interval;
            return this;
        }

        /** How long a process that consumes may be silent before others take over its partitions: 10 seconds by default. */
        public Builder lease(Duration newLease) {
            if (newLease.compareTo(Duration.ofSeconds(2)) < 0) {
                throw new IllegalArgumentException("a lease of " + newLease + " is too short: use 2 seconds or more");
            }
            this.lease = newLease;
            return this;
        }

        /** What payloads are encoded with, instead of the first {@link Codec} on the class path. */
        public Builder codec(Codec newCodec) {
            this.codec = newCodec;
            return this;
        }

        /** Who is told what this process does; one more, where there is one. */
        public Builder observer(Observer observer) {
            observers.add(Objects.requireNonNull(observer, "observer"));
            return this;
        }

        /**
         * Opens the database.
         *
         * @throws IncompatibleDatabaseException if Trunkline does not work with this database
         * @throws DatabaseUnavailableException if it can not be reached
         */
        public Trunkline open() {
            Database database = database();
            Database own = null;
            try {
                own = ownDatabase(database);
                Migrator migrator = new Migrator(database);
                if (migrate) {
                    migrator.migrate();
                } else {
                    migrator.verify();
                }
                return new Trunkline(this, database, own);
            } catch (RuntimeException e) {
                if (own != null) {
                    own.close();
                }
                database.close();
                throw e;
            }
        }

        private Database database() {
            if (dataSource != null) {
                return new Database(dataSource, () -> {}, schema);
            }
            if (url == null) {
                throw new IllegalStateException("no database: give a url or a dataSource");
            }
            return pool("trunkline", url, poolSize, Database.STATEMENT_SECONDS + 30);
        }

        /** What must not wait until others give back a connection has its own. */
        private Database ownDatabase(Database database) {
            String ownUrl = directUrl == null ? url : directUrl;
            return ownUrl == null || (dataSource != null && directUrl == null)
                    ? database.shared()
                    : pool("trunkline-own", ownUrl, 3, Math.max(2, (int) (lease.toSeconds() / 3)));
        }

        /** @param silence after how many seconds without an answer a connection is given up */
        private Database pool(String name, String jdbcUrl, int size, int silence) {
            HikariConfig config = new HikariConfig();
            config.setPoolName(name);
            config.setJdbcUrl(jdbcUrl);
            config.setUsername(user);
            config.setPassword(password);
            config.setMaximumPoolSize(size);
            config.setMinimumIdle(name.equals("trunkline") ? 1 : 0);
            config.setConnectionTimeout(10_000);
            config.setValidationTimeout(Math.min(5_000, 1_000L * silence));
            config.setInitializationFailTimeout(-1);
            config.setAutoCommit(true);
            config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
            config.addDataSourceProperty("tcpKeepAlive", "true");
            config.addDataSourceProperty("connectTimeout", Integer.toString(Math.min(10, silence)));
            config.addDataSourceProperty("socketTimeout", Integer.toString(silence));
            config.addDataSourceProperty("ApplicationName", "trunkline");
            HikariDataSource pool = new HikariDataSource(config);
            return new Database(pool, pool::close, schema);
        }
    }
}
