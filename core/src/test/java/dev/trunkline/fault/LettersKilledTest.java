package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.ChildJvm;
import dev.trunkline.testing.EffectProcess;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** F1, P5, P9, P14: the owner is killed while keys are blocked, parked, given up and redriven. */
@Tag("fault")
@Timeout(600)
class LettersKilledTest {

    private static final int KEYS = 20;
    private static final int PER_ROUND = 15;

    private final TestDatabase database = TestDatabase.fresh();
    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    private Trunkline trunkline;
    private ChildJvm process;
    private int perKey;

    @BeforeEach
    void open() {
        trunkline = database.options().open();
        trunkline.topics().create(TopicConfiguration.pubSub("orders").withPartitions(4));
        database.execute(EffectProcess.TABLES);
    }

    @AfterEach
    void close() {
        if (process != null) {
            process.close();
        }
        trunkline.close();
    }

    @Test
    void every_message_has_one_effect_in_its_place() throws InterruptedException {
        kill(5);
    }

    @Test
    @Tag("long")
    void every_message_has_one_effect_in_its_place_after_many_deaths() throws InterruptedException {
        kill(60);
    }

    private void kill(int times) throws InterruptedException {
        for (int round = 0; round < times; round++) {
            startProcess();
            poison();
            publish();
            await(() -> count("trunkline.attempt") + count("trunkline.parked") + count("trunkline.dead_letter") > 0);
            if (random.nextBoolean()) {
                redrive();
            }
            // Any moment from now on will do.
            LockSupport.parkNanos(random.nextLong(TimeUnit.SECONDS.toNanos(2)));
            killProcess();
        }
        startProcess();
        database.execute("delete from poison");
        await(() -> {
            redrive();
            return count("effect") == (long) perKey * KEYS;
        });
        for (String table : List.of("dead_letter", "parked", "blocked")) {
            await(() -> count("trunkline." + table) == 0);
        }
        await(() -> database.number("select sum(lag) from trunkline.lag('g', 'orders')") == 0);
        assertThat(database.query("select key, number from (select key, number, row_number() over"
                        + " (partition by key order by id) - 1 as place from effect) e where number <> place"))
                .as("out of place, seed %d", seed)
                .isEmpty();
    }

    @Test
    void the_note_of_a_message_that_was_done_when_its_process_died_is_forgotten() throws InterruptedException {
        startProcess();
        publish();
        await(() -> count("effect") == (long) perKey * KEYS);
        killProcess();
        // It died after the commit.
        database.execute(
                "insert into trunkline.suspect (subscription, strand, \"offset\", session, alone) values (1, 0, 0, 1, false)");
        startProcess();
        publish();
        await(() -> count("effect") == (long) perKey * KEYS);
        await(() -> count("trunkline.suspect") == 0);
    }

    private void startProcess() {
        process = ChildJvm.start(
                EffectProcess.class,
                database.url(),
                database.url(),
                database.server().user(),
                database.server().password());
        String line = process.readLine();
        while (line != null && !line.startsWith(EffectProcess.STARTED)) {
            line = process.readLine();
        }
        assertThat(line).as("what a consumer says when it has started").isNotNull();
        process.passOn();
    }

    private void killProcess() throws InterruptedException {
        process.kill();
        process.waitFor();
        // As another process does when it has seen no beat for a lease.
        database.query("select trunkline.end_session(id) from trunkline.session where ended_at is null");
    }

    /** Other messages fail than before: of few keys, or it would be the handler that is ill. */
    private void poison() {
        database.execute("delete from poison where random() < 0.5");
        for (int i = 0; i < 2; i++) {
            database.query(
                    "insert into poison values (?, ?)", "k" + random.nextInt(KEYS), perKey + random.nextInt(PER_ROUND));
        }
    }

    private void publish() {
        List<Message> messages = new ArrayList<>();
        for (int end = perKey + PER_ROUND; perKey < end; perKey++) {
            for (int key = 0; key < KEYS; key++) {
                messages.add(Message.of("orders", Integer.toString(perKey)).withKey("k" + key));
            }
        }
        trunkline.publisher().publishAll(messages);
    }

    private void redrive() {
        database.number("select trunkline.redrive('g', 'orders')");
    }

    private long count(String table) {
        return database.number("select count(*) from " + table);
    }

    private void await(Callable<Boolean> condition) {
        try {
            Awaitility.await("seed " + seed)
                    .atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(50))
                    .until(condition);
        } catch (ConditionTimeoutException late) {
            throw new AssertionError("seed " + seed + ": " + perKey * KEYS + " published; there are " + state(), late);
        }
    }

    private String state() {
        return Stream.of(
                        "effect",
                        "poison",
                        "trunkline.attempt",
                        "trunkline.parked",
                        "trunkline.blocked",
                        "trunkline.dead_letter",
                        "trunkline.suspect",
                        "trunkline.holder",
                        "trunkline.session")
                .map(table ->
                        table + " " + database.query("select t::text from " + table + " t order by 1 desc limit 25"))
                .collect(Collectors.joining("\n"));
    }
}
