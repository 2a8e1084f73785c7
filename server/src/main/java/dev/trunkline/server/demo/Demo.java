package dev.trunkline.server.demo;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.server.Address;
import dev.trunkline.server.demo.Accident.Loss;
import dev.trunkline.server.demo.Books.Group;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** Publishes and handles orders for a while, with an accident in between, and hands over what is known then. */
record Demo(Address address, Trunkline trunkline, Path notes, Books books, Board board, CountDownLatch stop) {

    /** How long to wait for orders that nobody handles before they count as lost. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    Evidence run(Duration duration) throws Exception {
        trunkline.topics().create(TopicConfiguration.pubSub(Order.TOPIC).withPartitions(Members.PARTITIONS));
        try (Accident accident = new Accident(address, notes, books);
                ExecutorService threads = Executors.newCachedThreadPool()) {
            Members.join(trunkline, new Notes(notes));
            try {
                Future<Optional<Loss>> loss =
                        threads.submit(() -> stop.await(duration.toMillis() / 4, TimeUnit.MILLISECONDS)
                                ? Optional.empty()
                                : Optional.of(accident.happen(board::say)));
                List<Future<List<Order>>> writers = IntStream.range(0, Writer.WRITERS)
                        .mapToObj(number -> threads.submit(new Writer(number, address, trunkline.publisher(), stop)))
                        .toList();
                watch(duration, groups -> stop.getCount() == 0);
                stop.countDown();
                List<Order> orders = new ArrayList<>();
                for (Future<List<Order>> writer : writers) {
                    orders.addAll(writer.get());
                }
                watch(PATIENCE, groups -> loss.isDone());
                long committed =
                        orders.stream().filter(order -> !order.rolledBack()).count();
                watch(PATIENCE, groups -> groups.stream().allMatch(g -> g.lag() == 0 && g.done() >= committed));
                return new Evidence(
                        orders,
                        Notes.read(notes),
                        books.rows(),
                        books.deadLetters(),
                        books.parked(),
                        books.holders(),
                        loss.get());
            } finally {
                stop.countDown();
            }
        }
    }

    /** Shows the groups until they are as they should be, or it took too long. */
    private void watch(Duration most, Predicate<List<Group>> until) throws SQLException, InterruptedException {
        long end = System.nanoTime() + most.toNanos();
        for (long left = most.toMillis(); left > 0; left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())) {
            TimeUnit.MILLISECONDS.sleep(Math.min(left, board.intervalMillis()));
            List<Group> groups = books.groups();
            board.show(groups, books.holders());
            if (until.test(groups)) {
                return;
            }
        }
    }
}
