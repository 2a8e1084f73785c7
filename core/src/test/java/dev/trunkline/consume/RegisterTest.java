package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.consume.Register.Entry;
import dev.trunkline.consume.Register.Taken;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The functions of {@code 009_groups.sql} do what {@link Register} says, so that what is simulated with the one is true of the other. */
@Timeout(300)
class RegisterTest {

    private static final int PARTITIONS = 4;
    private static final int SESSIONS = 5;
    private static final int STEPS = 1_000;
    private static final String RECORD =
            "select trunkline.record(?, array[1], array[?::int], array[?::int], array[?::bigint], array[?::bigint], array[?]) is not null";

    private final TestDatabase database = TestDatabase.fresh();
    private final Register register = new Register(Rules.engine(), PARTITIONS);
    private Connection connection;

    @BeforeEach
    void open() throws SQLException {
        try (Trunkline trunkline = database.open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(PARTITIONS));
        }
        connection = database.connect();
        run("select subscription from trunkline.subscribe('g', 't', 'BEGINNING')");
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    @Test
    void a_walk_of_sessions_and_holders_leads_where_it_should() throws SQLException {
        long seed = Seed.next();
        Random random = new Random(seed);
        long sessions = 0;
        for (int step = 0; step < STEPS; step++) {
            String when = "seed " + seed + ", step " + step;
            // Those that ended some time ago are asked for too.
            long session = Math.max(1, sessions - random.nextInt(SESSIONS));
            int partition = random.nextInt(PARTITIONS);
            switch (random.nextInt(12)) {
                case 0 -> {
                    sessions = register.begin(Duration.ofSeconds(10));
                    same(when, sessions, "select trunkline.begin_session('s', '10 seconds')");
                }
                case 1 -> same(when, flag(register.beat(session)), "select trunkline.beat(?)", session);
                case 2 -> {
                    long seen = random.nextInt(3);
                    same(when, flag(register.end(session, seen)), "select trunkline.end_session(?, ?)", session, seen);
                }
                case 3 -> {
                    register.join(session);
                    run("select trunkline.join_group(1, ?)", session);
                }
                case 4 -> {
                    register.leave(session);
                    run("select trunkline.leave_group(1, ?)", session);
                }
                case 5, 6, 7 -> {
                    int most = 1 + random.nextInt(PARTITIONS);
                    List<Taken> taken = register.take(session, most);
                    assertThat(run("select partition, epoch from trunkline.take(?, 1, ?) order by 1", session, most))
                            .as(when)
                            .containsExactlyElementsOf(taken.stream()
                                    .map(each -> each.partition() + "|" + each.epoch())
                                    .toList());
                }
                case 8 -> {
                    long epoch = register.owned(session).getOrDefault(partition, 1L) - random.nextInt(2);
                    register.release(session, Map.of(partition, epoch));
                    run(
                            "select trunkline.release_partitions(?, 1, array[?::int], array[?::bigint])",
                            session,
                            partition,
                            epoch);
                }
                case 9 -> {
                    register.seek(partition, 0);
                    run(
                            "select from trunkline.seek('g', 't', 'BEGINNING', a_partition => ?, a_force => true)",
                            partition);
                }
                default -> {
                    Long epoch = register.owned(session).getOrDefault(partition, 1L) - random.nextInt(2);
                    Entry entry = new Entry(partition, epoch, step, 0);
                    same(
                            when,
                            flag(register.record(session, entry)),
                            RECORD,
                            session,
                            partition,
                            partition,
                            epoch,
                            (long) step,
                            "{[0," + step + ")}");
                }
            }
            compare(when);
        }
        System.out.println("sessions and holders: " + STEPS + " steps from seed " + seed);
    }

    private void compare(String when) throws SQLException {
        assertThat(run("select unnest(s.sessions), unnest(s.counts) from trunkline.shares(1) s"))
                .as(when)
                .containsExactlyElementsOf(register.shares().entrySet().stream()
                        .map(each -> each.getKey() + "|" + each.getValue())
                        .toList());
        for (int partition = 0; partition < PARTITIONS; partition++) {
            same(
                    when,
                    register.cursor(partition),
                    "select coalesce(max(trunkline.cursor_of(d.done)), 0) from trunkline.done(1, array[?::int]) d",
                    partition);
        }
    }

    private static String flag(boolean is) {
        return is ? "t" : "f";
    }

    private void same(String when, Object expected, String sql, Object... parameters) throws SQLException {
        assertThat(run(sql, parameters)).as("%s: %s", when, sql).containsExactly(expected.toString());
    }

    private List<String> run(String sql, Object... parameters) throws SQLException {
        return TestDatabase.query(connection, sql, parameters);
    }
}
