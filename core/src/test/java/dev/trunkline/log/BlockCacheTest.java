package dev.trunkline.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.OffsetOutOfRangeException;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.database.Database;
import dev.trunkline.log.SegmentedLog.Reading;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Groups of a process that read at the same place share the read, and nobody waits for a slow one. */
@Timeout(300)
class BlockCacheTest {

    private static final long PLENTY = 10_000_000;
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final int[] STRANDS = {0, 1, 2};

    private final TestDatabase database = TestDatabase.fresh();
    private final HeldPool pool = new HeldPool(database);
    private final Bell bell = new Bell();
    private final SegmentReader reader = new SegmentReader(new Database(pool, pool::close, "trunkline"));
    private BlockCache cache = new BlockCache(reader, bell, PLENTY, LONG, LONG);
    private Trunkline trunkline;
    /** By the partition that they lead to. */
    private List<String> keys = List.of();

    @BeforeEach
    void open() {
        trunkline = database.open();
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(STRANDS.length));
        keys = database.query(
                "select min(k::text) from generate_series(1, 100) k cross join lateral trunkline.partition_of(k::text, ?) p group by p order by p",
                STRANDS.length);
    }

    @AfterEach
    void close() {
        trunkline.close();
        pool.close();
    }

    @Test
    void readers_at_the_same_place_cost_one_read() {
        publish(0, 100);
        List<Reading> readers = readers(20);
        int before = pool.borrowed();
        for (Reading reading : readers) {
            assertThat(read(reading, 0, 50)).containsExactlyElementsOf(texts(0, 50));
        }
        // The first did not know that others would follow.
        assertThat(pool.borrowed() - before).isEqualTo(2);
        for (Reading reading : readers) {
            assertThat(read(reading, 30, 50)).containsExactlyElementsOf(texts(30, 50));
        }
        for (Reading reading : readers) {
            assertThat(read(reading, 50, 50)).containsExactlyElementsOf(texts(50, 100));
            assertThat(read(reading, 30, 50)).containsExactlyElementsOf(texts(30, 80));
        }
        assertThat(pool.borrowed() - before).isEqualTo(3);
    }

    @Test
    void what_nobody_else_reads_is_not_kept() {
        publish(0, 100);
        Reading alone = cache.reading("t");
        for (int position = 0; position < 100; position += 10) {
            assertThat(read(alone, position, 10)).containsExactlyElementsOf(texts(position, position + 10));
        }
        assertThat(cache.bytes()).isZero();
        read(cache.reading("t"), 0, 10);
        assertThat(cache.bytes()).isPositive();
    }

    @Test
    void a_slow_reader_misses_what_has_gone_and_reads_for_itself() {
        publish(0, 100);
        cache = new BlockCache(reader, bell, 20_000, LONG, LONG);
        List<Reading> readers = readers(3);
        for (int position = 0; position < 100; position += 10) {
            read(readers.get(0), position, 10);
            read(readers.get(1), position, 10);
        }
        assertThat(cache.bytes()).isBetween(10_000L, 20_000L);
        int before = pool.borrowed();
        assertThat(read(readers.get(2), 0, 10)).containsExactlyElementsOf(texts(0, 10));
        assertThat(pool.borrowed() - before).isEqualTo(1);
        assertThat(cache.bytes()).isBetween(10_000L, 20_000L);
    }

    @Test
    void a_message_that_is_too_large_is_read_but_not_kept() {
        publish(0, 2);
        trunkline.publisher().publish(Message.of("t", "x".repeat(20_000)).withKey(keys.get(0)));
        publish(3, 4);
        cache = new BlockCache(reader, bell, 100_000, LONG, LONG);
        for (Reading reading : readers(3)) {
            List<LogMessage> read = new ArrayList<>();
            while (read.size() < 4) {
                read.addAll(reading.read(new int[] {0}, new long[] {read.size()}, 10)
                        .get(0));
            }
            assertThat(read).extracting(LogMessage::text).containsExactly("0:0", "0:1", "x".repeat(20_000), "0:3");
        }
        assertThat(cache.bytes()).isBetween(1L, 10_000L);
    }

    @Test
    void who_misses_what_another_is_fetching_waits_for_it_and_shares_it() throws Exception {
        publish(0, 20);
        List<Reading> readers = readers(3);
        pool.holdReply();
        int before = pool.borrowed();
        Asking first = new Asking(() -> read(readers.get(0), 0, 10));
        pool.awaitHeld();
        Asking second = new Asking(() -> read(readers.get(1), 0, 10));
        Asking third = new Asking(() -> read(readers.get(2), 5, 10));
        second.awaitWaiting();
        third.awaitWaiting();
        pool.letGo();
        assertThat(first.answer()).containsExactlyElementsOf(texts(0, 10));
        assertThat(second.answer()).containsExactlyElementsOf(texts(0, 10));
        assertThat(third.answer()).containsExactlyElementsOf(texts(5, 10));
        assertThat(pool.borrowed() - before).isEqualTo(1);
    }

    @Test
    void what_is_cached_comes_at_once_while_another_strand_is_being_fetched() throws Exception {
        publish(0, 20);
        List<Reading> readers = readers(2);
        readers.forEach(reading -> reading.read(new int[] {0, 1}, new long[2], 10));
        pool.holdReply();
        Asking slow = new Asking(() -> read(readers.get(0), 0, 10));
        pool.awaitHeld();
        assertThat(read(readers.get(1), 0, 10)).containsExactlyElementsOf(texts(0, 10, 0, 1));
        pool.letGo();
        assertThat(slow.answer()).containsExactlyElementsOf(texts(0, 10));
    }

    @Test
    void nobody_waits_for_ever_for_what_another_fetches() throws Exception {
        publish(0, 20);
        cache = new BlockCache(reader, bell, PLENTY, Duration.ofMillis(10), LONG);
        List<Reading> readers = readers(2);
        pool.holdReply();
        Asking stuck = new Asking(() -> read(readers.get(0), 0, 10));
        pool.awaitHeld();
        assertThat(read(readers.get(1), 0, 10)).containsExactlyElementsOf(texts(0, 10));
        pool.letGo();
        assertThat(stuck.answer()).containsExactlyElementsOf(texts(0, 10));
    }

    @Test
    void if_a_fetch_fails_those_who_waited_for_it_fetch_for_themselves() throws Exception {
        publish(0, 20);
        List<Reading> readers = readers(3);
        List<Asking> others = new ArrayList<>();
        Asking first;
        try (Connection blocker = database.connect()) {
            blocker.setAutoCommit(false);
            TestDatabase.query(blocker, "lock table trunkline.segment_1 in access exclusive mode");
            first = new Asking(() -> read(readers.get(0), 0, 10));
            awaitBlocked(1);
            for (Reading reading : readers.subList(1, 3)) {
                others.add(new Asking(() -> read(reading, 0, 10)));
                others.getLast().awaitWaiting();
            }
            assertThat(blocked()).isEqualTo(1);
            database.query("select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'"
                    + " and datname = current_database()");
            assertThatThrownBy(first::answer).hasCauseInstanceOf(DatabaseUnavailableException.class);
            awaitBlocked(1);
        }
        for (Asking other : others) {
            assertThat(other.answer()).containsExactlyElementsOf(texts(0, 10));
        }
    }

    @Test
    void who_waits_can_be_interrupted() throws Exception {
        publish(0, 20);
        List<Reading> readers = readers(2);
        pool.holdReply();
        Asking first = new Asking(() -> read(readers.get(0), 0, 10));
        pool.awaitHeld();
        Asking second = new Asking(() -> {
            assertThat(read(readers.get(1), 0, 10)).isEmpty();
            return List.of(String.valueOf(Thread.currentThread().isInterrupted()));
        });
        second.awaitWaiting();
        second.thread.interrupt();
        assertThat(second.answer()).containsExactly("true");
        pool.letGo();
        assertThat(first.answer()).containsExactlyElementsOf(texts(0, 10));
        assertThat(read(readers.get(1), 0, 10)).containsExactlyElementsOf(texts(0, 10));
    }

    @Test
    void that_there_is_nothing_more_is_known_to_all_until_somebody_rings() {
        publish(0, 10);
        List<Reading> readers = readers(5);
        assertThat(read(readers.getFirst(), 0, 50)).hasSize(30);
        int before = pool.borrowed();
        for (Reading reading : readers) {
            assertThat(read(reading, 10, 50)).isEmpty();
        }
        assertThat(pool.borrowed()).isEqualTo(before);
        publish(10, 11);
        bell.ring("t");
        for (Reading reading : readers) {
            assertThat(read(reading, 10, 50)).containsExactlyElementsOf(texts(10, 11));
            assertThat(read(reading, 11, 50)).isEmpty();
        }
        assertThat(pool.borrowed() - before).isEqualTo(1);
    }

    @Test
    void that_there_was_nothing_is_not_believed_by_who_asks_after_a_ring() throws Exception {
        publish(0, 10);
        List<Reading> readers = readers(2);
        pool.holdReply();
        Asking early = new Asking(() -> read(readers.get(0), 10, 50));
        pool.awaitHeld();
        publish(10, 11);
        bell.ring("t");
        Asking late = new Asking(() -> read(readers.get(1), 10, 50));
        late.awaitWaiting();
        pool.letGo();
        assertThat(early.answer()).isEmpty();
        assertThat(late.answer()).containsExactlyElementsOf(texts(10, 11));
    }

    @Test
    void where_rings_are_lost_the_end_is_believed_for_a_moment_only() {
        publish(0, 10);
        cache = new BlockCache(reader, bell, PLENTY, LONG, Duration.ofMillis(1));
        List<Reading> readers = readers(2);
        assertThat(read(readers.get(0), 10, 50)).isEmpty();
        publish(10, 11);
        Awaitility.await().until(() -> read(readers.get(1), 10, 50).equals(texts(10, 11)));
    }

    @Test
    void a_strand_that_goes_on_in_a_new_segment_has_not_ended() {
        publish(0, 10);
        List<Reading> readers = readers(2);
        assertThat(read(readers.get(0), 0, 50)).hasSize(30);
        database.query("select trunkline.roll_segment(1)");
        publish(10, 20);
        bell.ring("t");
        long[] positions = {5, 10, 10};
        assertThat(texts(readers.get(0).read(STRANDS, positions, 50))).containsAll(texts(5, 10, 0));
        for (Reading reading : readers) {
            assertThat(read(reading, 10, 50)).containsExactlyElementsOf(texts(10, 20));
        }
    }

    @Test
    void a_strand_that_goes_on_in_a_new_segment_does_not_wait_for_another_that_has_history() {
        publish(0, 10);
        Reading reading = cache.reading("t");
        assertThat(read(reading, 0, 50)).hasSize(30);
        database.query("select trunkline.roll_segment(1)");
        publish(10, 20);
        bell.ring("t");
        long[] positions = {5, 10, 10};
        assertThat(texts(reading.read(STRANDS, positions, 2)))
                .containsExactly("0:5", "0:6", "1:10", "1:11", "2:10", "2:11");
        int before = pool.borrowed();
        assertThat(texts(reading.read(STRANDS, new long[] {7, 20, 20}, 2))).containsExactly("0:7", "0:8");
        assertThat(pool.borrowed() - before)
                .as("a segment each, and no look at the catalogue")
                .isEqualTo(2);
    }

    @Test
    void what_retention_has_dropped_is_an_error_for_who_does_not_find_it_here() {
        publish(0, 10);
        List<Reading> readers = readers(2);
        readers.forEach(reading -> read(reading, 5, 50));
        database.query("select trunkline.roll_segment(1)");
        publish(10, 20);
        bell.ring("t");
        assertThat(database.query("select trunkline.drop_segment(1, '{10, 10, 10}')"))
                .containsExactly("1");
        assertThat(read(readers.get(1), 5, 50)).containsExactlyElementsOf(texts(5, 10));
        assertThatThrownBy(() -> read(readers.get(1), 0, 50))
                .isInstanceOf(OffsetOutOfRangeException.class)
                .hasMessageContaining("which holds 10 to 19");
        assertThat(read(readers.get(1), 10, 50)).containsExactlyElementsOf(texts(10, 20));
    }

    @Test
    void a_topic_that_is_created_anew_has_nothing_of_the_one_before() {
        publish(0, 20);
        List<Reading> before = readers(2);
        before.forEach(reading -> read(reading, 0, 10));
        trunkline.topics().drop("t");
        trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(STRANDS.length));
        trunkline.publisher().publish(Message.of("t", "new").withKey(keys.get(1)));
        List<Reading> after = readers(2);
        for (Reading reading : after) {
            assertThat(read(reading, 0, 10)).containsExactly("new");
        }
        assertThatThrownBy(() -> read(before.get(0), 10, 10)).isInstanceOf(UnknownTopicException.class);
        assertThatThrownBy(() -> read(before.get(0), 0, 10)).isInstanceOf(UnknownTopicException.class);
        assertThat(read(after.get(0), 0, 10)).containsExactly("new");
    }

    @Test
    void what_was_being_fetched_when_all_was_forgotten_is_not_kept() throws Exception {
        publish(0, 20);
        List<Reading> readers = readers(2);
        readers.forEach(reading -> read(reading, 0, 10));
        pool.holdReply();
        Asking asking = new Asking(() -> read(readers.get(0), 10, 10));
        pool.awaitHeld();
        cache.clear();
        assertThat(cache.bytes()).isZero();
        pool.letGo();
        assertThat(asking.answer()).containsExactlyElementsOf(texts(10, 20));
        assertThat(cache.bytes()).isZero();
        assertThat(read(readers.get(1), 0, 10)).containsExactlyElementsOf(texts(0, 10));
    }

    @Test
    void random_readers_find_what_a_plain_reader_finds_and_the_bound_is_kept() {
        long seed = Seed.next();
        Random random = new Random(seed);
        long bound = 30_000;
        cache = new BlockCache(reader, bell, bound, LONG, LONG);
        List<Reading> readers = readers(4);
        long[][] at = new long[readers.size()][STRANDS.length];
        int end = 0;
        for (int step = 0; step < 1_500; step++) {
            int roll = random.nextInt(100);
            if (roll < 5) {
                publish(end, end += 1 + random.nextInt(20));
                bell.ring("t");
            } else if (roll == 5) {
                database.query("select trunkline.roll_segment(1)");
            }
            int who = random.nextInt(readers.size());
            if (random.nextInt(20) == 0) {
                Arrays.fill(at[who], random.nextInt(end + 1));
            }
            int[] strands = random.nextBoolean() ? STRANDS : new int[] {random.nextInt(STRANDS.length)};
            int most = 1 + random.nextInt(30);
            long[] positions =
                    IntStream.of(strands).mapToLong(strand -> at[who][strand]).toArray();
            Map<Integer, List<LogMessage>> found = readers.get(who).read(strands, positions.clone(), most);
            List<LogMessage> expected =
                    reader.read("t", strands, positions.clone(), most).messages();
            String where = "seed " + seed + ", step " + step;
            assertThat(found.isEmpty()).as(where).isEqualTo(expected.isEmpty());
            found.forEach((strand, messages) -> {
                assertThat(messages).as(where).hasSizeBetween(1, most);
                assertThat(messages)
                        .as(where)
                        .extracting(LogMessage::text)
                        .containsExactlyElementsOf(texts(at[who][strand], at[who][strand] + messages.size(), strand));
                at[who][strand] += messages.size();
            });
            assertThat(cache.bytes()).as(where).isLessThanOrEqualTo(bound);
        }
        assertThat(cache.bytes()).isPositive();
    }

    @Test
    void many_threads_read_everything_once_and_in_order_beside_a_publisher() throws Exception {
        cache = new BlockCache(reader, bell, 30_000, LONG, LONG);
        long all = 1_000;
        List<Asking> askings = new ArrayList<>();
        for (int n = 0; n < 12; n++) {
            Reading reading = cache.reading("t");
            int most = 20 + 7 * n;
            askings.add(new Asking(() -> {
                long[] at = new long[STRANDS.length];
                while (LongStream.of(at).sum() < all * STRANDS.length) {
                    long heard = bell.count();
                    Map<Integer, List<LogMessage>> found = reading.read(STRANDS, at.clone(), most);
                    found.forEach((strand, messages) -> {
                        assertThat(messages)
                                .extracting(LogMessage::text)
                                .containsExactlyElementsOf(texts(at[strand], at[strand] + messages.size(), strand));
                        at[strand] += messages.size();
                    });
                    if (found.isEmpty()) {
                        bell.await(heard, LONG.toNanos());
                    }
                }
                return List.of();
            }));
        }
        for (int from = 0; from < all; from += 20) {
            publish(from, from + 20);
            bell.ring("t");
        }
        for (Asking asking : askings) {
            assertThat(asking.answer()).isEmpty();
        }
    }

    private List<Reading> readers(int count) {
        return Stream.generate(() -> cache.reading("t")).limit(count).toList();
    }

    /** Reads all strands from one position on. */
    private static List<String> read(Reading reading, long position, int most) {
        long[] positions = new long[STRANDS.length];
        Arrays.fill(positions, position);
        return texts(reading.read(STRANDS, positions, most));
    }

    private static List<String> texts(Map<Integer, List<LogMessage>> found) {
        return IntStream.of(STRANDS)
                .mapToObj(strand -> found.getOrDefault(strand, List.of()))
                .flatMap(List::stream)
                .map(LogMessage::text)
                .toList();
    }

    private static List<String> texts(long from, long to) {
        return texts(from, to, STRANDS);
    }

    /** What lies at these offsets of some strands. */
    private static List<String> texts(long from, long to, int... strands) {
        return IntStream.of(strands)
                .boxed()
                .flatMap(strand -> LongStream.range(from, to).mapToObj(offset -> strand + ":" + offset))
                .toList();
    }

    private void publish(long from, long to) {
        trunkline
                .publisher()
                .publishAll(LongStream.range(from, to)
                        .boxed()
                        .flatMap(offset -> IntStream.of(STRANDS)
                                .mapToObj(strand ->
                                        Message.of("t", strand + ":" + offset).withKey(keys.get(strand))))
                        .toList());
    }

    private long blocked() {
        return database.number("select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                + " and datname = current_database()");
    }

    private void awaitBlocked(long count) {
        Awaitility.await().until(() -> blocked() == count);
    }

    /** Somebody who reads on a thread of his own. */
    private static final class Asking {
        private final FutureTask<List<String>> task;
        private final Thread thread;

        Asking(Callable<List<String>> read) {
            task = new FutureTask<>(read);
            thread = Thread.ofPlatform().daemon().start(task);
        }

        void awaitWaiting() {
            Awaitility.await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        }

        List<String> answer() throws InterruptedException, ExecutionException {
            return task.get();
        }
    }
}
