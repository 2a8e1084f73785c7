package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.GroupStatus;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.consume.Life.Deed;
import dev.trunkline.testing.Seed;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The functions of {@code 014_life.sql} do what {@link Life} says, so that what is simulated with the one is true of the other. Time here is minutes:
 * when one is to pass, all that the database remembers becomes older.
 */
@Timeout(300)
class LifeTest {

    /** In parts of one, so that no two deeds are at the same time. */
    private static final long MINUTE = 1_000;

    private static final Life.Times TIMES = new Life.Times(MINUTE, 5 * MINUTE, 20 * MINUTE, 24 * 60 * MINUTE);
    private static final int STEPS = 400;
    private static final List<@Nullable Long> AGES = Arrays.asList(null, 0L, 1L, 7L, 30L);

    private final TestDatabase database = TestDatabase.fresh();
    private Connection connection;

    @BeforeEach
    void open() throws SQLException {
        try (Trunkline trunkline = database.open()) {
            trunkline.topics().create(TopicConfiguration.pubSub("t").withPartitions(1));
        }
        connection = database.connect();
        run("select subscription from trunkline.subscribe('g', 't', 'NOW', a_dead_after => '5 minutes')");
        run("update trunkline.topic set zombie_ttl = '20 minutes'");
        run("select trunkline.begin_session('s', '10 seconds')");
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    @Test
    void every_deed_in_every_state_leads_where_it_should() throws SQLException {
        int count = 0;
        for (Life life : states()) {
            for (Deed deed : Deed.values()) {
                set(life);
                require(life, deed, 0, "from " + life);
                count++;
            }
        }
        System.out.println("the life of groups: " + count + " transitions");
    }

    @Test
    void a_walk_through_a_long_life_leads_where_it_should() throws SQLException {
        long seed = Seed.next();
        Random random = new Random(seed);
        Life life = Life.begun(0);
        set(life);
        long now = 0;
        for (int step = 0; step < STEPS; step++) {
            long minutes = List.of(0, 0, 1, 2, 3, 7, 30).get(random.nextInt(7));
            pass(minutes);
            now += minutes * MINUTE + 1;
            // A cancelled group stays so: that comes now and then, and another one follows.
            Deed deed = List.of(Deed.values()).get(random.nextInt(Deed.values().length));
            if (deed == Deed.CANCEL && random.nextInt(5) > 0) {
                continue;
            }
            String when = "seed " + seed + ", step " + step;
            life = require(life, deed, now, when);
            if (life.status() == GroupStatus.CANCELLED && random.nextInt(4) == 0) {
                set(Life.begun(0));
                life = Life.begun(now);
            }
        }
        System.out.println("the life of groups: " + STEPS + " steps from seed " + seed);
    }

    private static List<Life> states() {
        List<Life> states = new ArrayList<>();
        for (GroupStatus status : GroupStatus.values()) {
            for (long since : List.of(1, 30)) {
                for (Long beat : Arrays.asList(null, 0L, 6L)) {
                    for (Long unattended : AGES) {
                        for (Long released : Arrays.asList(null, 1L)) {
                            states.add(new Life(
                                    status,
                                    -since * MINUTE,
                                    beat != null,
                                    MINUTE * (beat == null ? -6 : -beat),
                                    unattended == null ? null : Long.valueOf(-unattended * MINUTE),
                                    released == null ? null : Long.valueOf(-released * MINUTE),
                                    List.of()));
                        }
                    }
                }
            }
        }
        return states;
    }

    /** Does it in both, and compares. */
    private Life require(Life life, Deed deed, long now, String when) throws SQLException {
        Life next = life.after(deed, now, TIMES, Life.AFTER_TWO_LOOKS);
        assertThat(isDone(deed)).as("%s: %s is done", when, deed).isEqualTo(next != null);
        Life expected = next == null ? life : next;
        assertThat(told()).as("%s: %s", when, deed).isEqualTo(text(expected, now));
        return expected;
    }

    private boolean isDone(Deed deed) throws SQLException {
        try {
            run(
                    switch (deed) {
                        case BEAT -> "select trunkline.beat(1)";
                        case JOIN -> "select trunkline.join_group(1, 1)";
                        case LEAVE -> "select trunkline.leave_group(1, 1)";
                        case PAUSE -> "select trunkline.change_group('g', 't', 'PAUSED')";
                        case RESUME -> "select trunkline.change_group('g', 't', 'ACTIVE')";
                        case RESURRECT -> "select trunkline.resurrect('g', 't')";
                        case CANCEL -> "select trunkline.change_group('g', 't', 'CANCELLED')";
                        case LOOK -> "select trunkline.watch_groups()";
                    });
            return true;
        } catch (SQLException e) {
            if (!"TL008".equals(e.getSQLState())) {
                throw e;
            }
            return false;
        }
    }

    private static String text(Life life, long now) {
        return String.join(
                "|",
                life.status().name(),
                age(life.statusSince(), now),
                age(life.unattendedSince(), now),
                age(life.releasedAt(), now),
                life.isMember() ? "t" : "f",
                age(life.beatAt(), now),
                life.health(now, TIMES));
    }

    private static String age(@Nullable Long since, long now) {
        return since == null ? "null" : Long.toString((now - since) / MINUTE);
    }

    private String told() throws SQLException {
        return run("""
                select g.status, floor(extract(epoch from clock_timestamp() - g.status_since) / 60),
                       floor(extract(epoch from clock_timestamp() - g.unattended_since) / 60),
                       floor(extract(epoch from clock_timestamp() - g.released_at) / 60),
                       exists (select from trunkline.member),
                       floor(extract(epoch from clock_timestamp() - s.beat_at) / 60), g.health
                from trunkline.groups g, trunkline.session s
                """).getFirst();
    }

    private void set(Life life) throws SQLException {
        run("delete from trunkline.member");
        run("delete from trunkline.group_event");
        if (life.isMember()) {
            run("insert into trunkline.member values (1, 1)");
        }
        run(
                "update trunkline.session set beat_at = clock_timestamp() - make_interval(mins => ?)",
                minutes(life.beatAt()));
        run(
                """
                update trunkline.subscription
                set status = ?, status_since = clock_timestamp() - make_interval(mins => ?),
                    unattended_since = clock_timestamp() - make_interval(mins => ?), released_at = clock_timestamp() - make_interval(mins => ?)
                """,
                life.status().name(),
                minutes(life.statusSince()),
                minutes(life.unattendedSince()),
                minutes(life.releasedAt()));
    }

    private static @Nullable Integer minutes(@Nullable Long since) {
        return since == null ? null : Math.toIntExact(-since / MINUTE);
    }

    private void pass(long minutes) throws SQLException {
        int count = Math.toIntExact(minutes);
        run("""
                update trunkline.subscription
                set status_since = status_since - make_interval(mins => ?), unattended_since = unattended_since - make_interval(mins => ?),
                    released_at = released_at - make_interval(mins => ?)
                """, count, count, count);
        run("update trunkline.session set beat_at = beat_at - make_interval(mins => ?)", count);
        run("update trunkline.group_event set at = at - make_interval(mins => ?)", count);
    }

    private List<String> run(String sql, Object... parameters) throws SQLException {
        return TestDatabase.query(connection, sql, parameters);
    }
}
