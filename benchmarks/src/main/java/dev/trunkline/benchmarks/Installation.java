package dev.trunkline.benchmarks;

import dev.trunkline.Log;
import dev.trunkline.Publisher;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/** A Trunkline in a schema of its own, with one topic as it is by default. */
final class Installation implements AutoCloseable {

    static final String TOPIC = "bench";

    private static final int BATCH = 1_000;

    private final Address address;
    private final String schema;
    private final Trunkline trunkline;
    private final Sql sql;

    Installation(Address address, String schema, boolean backgroundWork) {
        this(address, schema, Trunkline.builder().backgroundWork(backgroundWork));
    }

    /** One whose connections come out of that pool, but for those that Trunkline keeps for itself. */
    Installation(Address address, String schema, DataSource pool, int poolSize) {
        this(
                address,
                schema,
                Trunkline.builder().dataSource(pool).poolSize(poolSize).directUrl(address.url()));
    }

    private Installation(Address address, String schema, Trunkline.Builder builder) {
        this.address = address;
        this.schema = schema;
        this.sql = new Sql(schema);
        this.trunkline = builder.url(address.url(), address.user(), address.password())
                .schema(schema)
                .open();
        configure(TopicConfiguration.pubSub(TOPIC));
    }

    void configure(TopicConfiguration topic) {
        trunkline.topics().configure(topic);
    }

    Trunkline trunkline() {
        return trunkline;
    }

    Publisher publisher() {
        return trunkline.publisher();
    }

    /** Threads that publish batches of messages with keys. */
    Crew publishers(int threads, int batch) throws Exception {
        return Crew.of(
                threads,
                () -> () -> publisher().publishAll(Samples.keyed(batch)).size());
    }

    /** Makes a backlog of so many messages with keys, as quickly as may be. */
    void publish(int messages) throws Exception {
        long before = appended();
        try (Crew crew = publishers(2, BATCH)) {
            crew.times(messages / BATCH);
        }
        Tally.require("published", messages, appended() - before);
    }

    String schema() {
        return schema;
    }

    String sql(String name) {
        return sql.get(name);
    }

    String sql(String name, Object part) {
        return sql.get(name, part);
    }

    void execute(String statement) throws SQLException {
        try (Connection connection = address.connect()) {
            Query.execute(connection, statement);
        }
    }

    /** How many messages got their offset, as the log says. */
    long appended() {
        Log log = trunkline.log();
        int partitions = trunkline.topics().find(TOPIC).orElseThrow().partitions();
        return IntStream.range(0, partitions)
                .mapToLong(partition -> log.end(TOPIC, partition))
                .sum();
    }

    /** How many messages lie in the log, counted one by one. */
    long count() throws SQLException {
        long count = 0;
        try (Connection connection = address.connect()) {
            for (String segment : Query.texts(connection, sql.get("segments"), TOPIC)) {
                count += Query.number(connection, sql.get("countSegment", segment));
            }
        }
        return count;
    }

    /** How many messages a group has done, as is recorded, without a gap from the first on. */
    long done(String group) throws SQLException {
        try (Connection connection = address.connect()) {
            return Query.number(connection, sql.get("done"), group, TOPIC);
        }
    }

    @Override
    public void close() {
        trunkline.close();
    }
}
