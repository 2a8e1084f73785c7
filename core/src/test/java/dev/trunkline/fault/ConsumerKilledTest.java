package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.ChildJvm;
import dev.trunkline.testing.ConsumingProcess;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** F2 for consumers: they are killed, or stopped for longer than their lease, while messages are in their hands. */
@Tag("fault")
@Timeout(300)
class ConsumerKilledTest {

    private static final int PARTITIONS = 8;
    private static final int KEYS = 20;

    private final TestDatabase database = TestDatabase.fresh();
    private final long seed = Seed.next();
    private final List<ChildJvm> processes = new ArrayList<>();
    private Trunkline trunkline;
    private int perKey;

    private record Consumer(ChildJvm process, long pid) {}

    @BeforeEach
    void open() {
        trunkline = database.options().open();
        trunkline.topics().create(TopicConfiguration.pubSub("orders").withPartitions(PARTITIONS));
        database.execute(ConsumingProcess.TABLE);
    }

    @AfterEach
    void close() {
        processes.forEach(ChildJvm::close);
        trunkline.close();
    }

    @Test
    void what_killed_consumers_have_not_recorded_is_handled_by_others_and_no_key_skips_a_message() throws Exception {
        Random random = new Random(seed);
        List<Consumer> live = new ArrayList<>(List.of(start(), start()));
        for (int round = 0; round < 2; round++) {
            awaitShares(live);
            Consumer victim = live.remove(random.nextInt(2));
            publish(10);
            await(() -> {
                publish(1); // it may have lost its partitions for a while, and others have handled the rest
                return handled("process = " + victim.pid()) > 0;
            });
            int before = random.nextInt(60);
            publishOneByOne(before);
            victim.process().kill();
            publishOneByOne(65 - before);
            assertThat(victim.process().waitFor()).isNotZero();
            live.add(start());
        }
        awaitShares(live);
        awaitAllHandled();
        assertNothingSkipped();
    }

    @Test
    void a_stopped_consumer_that_goes_on_records_nothing_of_what_it_lost_and_takes_part_again() throws Exception {
        stopInsertsFrom(1 + new Random(seed).nextInt(300));
        Consumer stopped = start();
        await(() -> held(stopped) == PARTITIONS);
        long session = session(stopped);
        try (Connection gate = database.connect()) {
            TestDatabase.query(gate, "select pg_advisory_lock(1)");
            publish(100);
            await(() ->
                    database.number("select count(*) from pg_locks where locktype = 'advisory' and not granted") > 0);
            signal("STOP", stopped);
            TestDatabase.query(gate, "select pg_advisory_unlock(1)");
        }
        Consumer other = start();
        await(() -> held(other) == PARTITIONS);
        publish(25);
        awaitAllHandled();
        assertThat(handled("process = " + stopped.pid())).as("seed %d", seed).isLessThan(100L * KEYS);
        List<String> recorded = recordedByFirst();
        long last = database.number("select max(id) from delivery");

        signal("CONT", stopped);
        awaitShares(List.of(stopped, other));
        assertThat(session(stopped)).isGreaterThan(session);
        publish(25);
        awaitAllHandled();
        assertThat(handled("id > " + last + " and epoch > 1 and process = " + stopped.pid()))
                .as("seed %d", seed)
                .isPositive();
        assertThat(recordedByFirst()).as("seed %d", seed).isEqualTo(recorded);
        // One message of a key may have been in its hands when it was stopped.
        assertThat(database.query(
                        "select key from delivery where id > ? and epoch = 1 group by key having count(*) > 1", last))
                .as("seed %d", seed)
                .isEmpty();
        assertNothingSkipped();
    }

    @Test
    void a_message_that_kills_its_process_is_a_dead_letter_after_three_deaths() throws Exception {
        killedBy(ConsumingProcess.HALT);
    }

    @Test
    void a_message_that_killed_three_processes_is_handled_when_it_is_redriven() throws Exception {
        Consumer last = killedBy(ConsumingProcess.HALT);
        database.number("select trunkline.redrive('g', 'orders')");
        await(() -> !last.process().isAlive());
    }

    @Test
    void a_handler_that_exits_is_found_like_one_that_kills() throws Exception {
        killedBy(ConsumingProcess.EXIT);
    }

    /** Returns the process that is left. */
    private Consumer killedBy(String text) throws Exception {
        publish(20);
        trunkline.publisher().publish(Message.of("orders", text).withKey("killer"));
        publish(20);
        int deaths = 0;
        Consumer last = start();
        while (database.number("select count(*) from trunkline.dead_letter") == 0) {
            Consumer consumer = last;
            await(() ->
                    !consumer.process().isAlive() || database.number("select count(*) from trunkline.dead_letter") > 0);
            if (!consumer.process().isAlive()) {
                deaths++;
                last = start();
            }
        }
        assertThat(deaths).as("seed %d", seed).isEqualTo(3);
        assertThat(database.query("select key, text from trunkline.dead_letters where error like '%died%'"))
                .containsExactly("killer|" + text);
        awaitAllHandled();
        assertNothingSkipped();
        await(() -> database.number("select count(*) from trunkline.suspect") == 0);
        return last;
    }

    private Consumer start() {
        ChildJvm process = ChildJvm.start(
                ConsumingProcess.class,
                database.url(),
                database.server().user(),
                database.server().password());
        processes.add(process);
        String line = process.readLine();
        while (line != null && !line.startsWith(ConsumingProcess.STARTED)) {
            line = process.readLine();
        }
        assertThat(line).as("what a consumer says when it has started").isNotNull();
        return new Consumer(process, Long.parseLong(line.substring(ConsumingProcess.STARTED.length())));
    }

    /** From that row on they wait for who holds the advisory lock: so a consumer is in the midst of its work, however slow this thread is. */
    private void stopInsertsFrom(int id) {
        database.execute("create function at_the_gate() returns trigger language plpgsql as $$ begin if new.id >= " + id
                + " then perform pg_advisory_xact_lock_shared(1); end if; return new; end $$;"
                + "create trigger gate before insert on delivery for each row execute function at_the_gate()");
    }

    private static void signal(String name, Consumer consumer) throws IOException, InterruptedException {
        int code = new ProcessBuilder("kill", "-" + name, Long.toString(consumer.pid()))
                .inheritIO()
                .start()
                .waitFor();
        assertThat(code).isZero();
    }

    private void publishOneByOne(int more) {
        for (int i = 0; i < more; i++) {
            publish(1);
        }
    }

    /** Publishes so many more messages of each key. Their texts are numbers without gaps. */
    private void publish(int more) {
        List<Message> messages = new ArrayList<>();
        for (int end = perKey + more; perKey < end; perKey++) {
            for (int key = 0; key < KEYS; key++) {
                messages.add(Message.of("orders", Integer.toString(perKey)).withKey("k" + key));
            }
        }
        trunkline.publisher().publishAll(messages);
    }

    private void awaitShares(List<Consumer> live) {
        await(() -> live.stream().allMatch(consumer -> held(consumer) == PARTITIONS / live.size()));
    }

    private void awaitAllHandled() {
        await(() -> database.number("select count(distinct (key, number)) from delivery") == (long) perKey * KEYS);
        await(() -> database.number("select sum(lag) from trunkline.lag('g', 'orders')") == 0);
    }

    private long held(Consumer consumer) {
        return database.number(
                "select count(*) from trunkline.holder h join trunkline.session s on s.id = h.session"
                        + " where s.ended_at is null and s.name like ?",
                consumer.pid() + "@%");
    }

    private long session(Consumer consumer) {
        return database.number(
                "select id from trunkline.session where ended_at is null and name like ?", consumer.pid() + "@%");
    }

    private long handled(String which) {
        return database.number("select count(*) from delivery where " + which);
    }

    /** What the first owner of all partitions has recorded. */
    private List<String> recordedByFirst() {
        return database.query(
                "select strand, sequence, done from trunkline.progress where epoch = 1 order by strand, sequence");
    }

    /** Each owner handled the messages of a key one after the other, and none began behind one that nobody had handled. */
    private void assertNothingSkipped() {
        Map<String, List<Integer>> byKey = new TreeMap<>();
        Map<String, List<Integer>> byOwner = new TreeMap<>();
        for (String row : database.query("select key, number, epoch from delivery order by id")) {
            String[] columns = row.split("\\|", -1);
            int number = Integer.parseInt(columns[1]);
            byKey.computeIfAbsent(columns[0], key -> new ArrayList<>()).add(number);
            byOwner.computeIfAbsent(columns[0] + " in epoch " + columns[2], owner -> new ArrayList<>())
                    .add(number);
        }
        assertThat(byKey).as("seed %d", seed).hasSize(KEYS);
        byKey.forEach((key, numbers) -> assertThat(new LinkedHashSet<>(numbers))
                .as("%s, seed %d", key, seed)
                .containsExactlyElementsOf(IntStream.range(0, perKey).boxed().toList()));
        byOwner.forEach((owner, numbers) -> assertThat(numbers)
                .as("%s, seed %d", owner, seed)
                .isEqualTo(IntStream.range(numbers.getFirst(), numbers.getFirst() + numbers.size())
                        .boxed()
                        .toList()));
    }

    private void await(Callable<Boolean> condition) {
        Awaitility.await("seed " + seed)
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(20))
                .until(condition);
    }
}
