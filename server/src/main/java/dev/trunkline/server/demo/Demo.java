package dev.trunkline.server.demo;

import dev.trunkline.Publisher;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.server.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Publishes and reads for a while, and hands over what is known then. */
final class Demo {

    /** How long to wait for messages that do not come before they count as lost. */
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final Place place;
    private final Trunkline trunkline;
    private final CountDownLatch stop;
    private final Tally tally = new Tally();
    private final Progress progress;

    Demo(Place place, Trunkline trunkline, CountDownLatch stop, Function<Tally, Progress> progress) {
        this.place = place;
        this.trunkline = trunkline;
        this.stop = stop;
        this.progress = progress.apply(tally);
    }

    Evidence run(Duration duration) throws SQLException, InterruptedException, ExecutionException {
        trunkline.topics().create(TopicConfiguration.pubSub(Publishing.TOPIC));
        place.execute("createOrders");
        Reader reader = new Reader(trunkline, tally);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<List<Seen>> seen = threads.submit(reader);
            List<Future<List<Sent>>> writers =
                    writers().stream().map(threads::submit).toList();
            try {
                publishFor(duration);
                List<Sent> sent = new ArrayList<>();
                for (Future<List<Sent>> writer : writers) {
                    sent.addAll(writer.get());
                }
                catchUp(seen);
                trunkline.relayNow();
                reader.finish();
                return new Evidence(sent, seen.get(), rows(), ends());
            } finally {
                stop.countDown();
                reader.finish();
                progress.end();
            }
        }
    }

    private List<Writer> writers() {
        List<Writer> writers = new ArrayList<>();
        for (Way way : Way.values()) {
            for (int i = 0; i < way.writers; i++) {
                writers.add(new Writer(way, writers.size() + 1, publishing(way), tally, stop));
            }
        }
        return writers;
    }

    private Publishing publishing(Way way) {
        Publisher publisher = trunkline.publisher();
        return way == Way.IN_TRANSACTION ? new Shop(place.address(), publisher) : Publishing.onItsOwn(publisher);
    }

    private void publishFor(Duration duration) throws InterruptedException {
        long end = tally.now() + duration.toNanos();
        long left = duration.toNanos();
        while (left > 0 && !stop.await(Math.min(left, progress.interval().toNanos()), TimeUnit.NANOSECONDS)) {
            left = end - tally.now();
            if (left > 0) {
                progress.show();
            }
        }
        stop.countDown();
    }

    /**
     * Waits until all that was published is read, as long as reading goes on, and all that was delayed is due. Messages of
     * unknown outcome may be read without being counted as published: the count alone would end it too early.
     */
    private void catchUp(Future<?> reader) throws InterruptedException {
        long read = tally.read.sum();
        long since = tally.now();
        long allDue = since + Order.LONGEST_DELAY.toNanos();
        while ((tally.waiting() > 0 || tally.now() < allDue)
                && !reader.isDone()
                && tally.now() - since < PATIENCE.toNanos()) {
            TimeUnit.MILLISECONDS.sleep(20);
            if (tally.read.sum() > read) {
                read = tally.read.sum();
                since = tally.now();
            }
        }
    }

    private Set<Order.Id> rows() throws SQLException {
        try (Connection connection = place.address().connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.of(Demo.class, "demo.sql", "orders"))) {
            Set<Order.Id> rows = new HashSet<>();
            while (row.next()) {
                rows.add(new Order.Id(row.getInt(1), row.getLong(2)));
            }
            return rows;
        }
    }

    private Map<Integer, Long> ends() {
        int partitions = trunkline.topics().find(Publishing.TOPIC).orElseThrow().partitions();
        return IntStream.range(0, partitions)
                .boxed()
                .collect(Collectors.toMap(p -> p, p -> trunkline.log().end(Publishing.TOPIC, p)));
    }
}
