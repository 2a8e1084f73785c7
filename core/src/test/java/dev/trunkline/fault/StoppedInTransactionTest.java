package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.rig.ChildJvm;
import dev.trunkline.rig.FaultProxy;
import dev.trunkline.rig.FaultProxy.Fate;
import dev.trunkline.testing.EffectProcess;
import dev.trunkline.testing.TestDatabase;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * F11: a process is stopped in the transaction of its handler, for longer than its lease. What it did was committed before the take-over,
 * or never is, and its transaction does not stand in its successor's way.
 */
@Tag("fault")
@Timeout(300)
class StoppedInTransactionTest {

    private final TestDatabase database = TestDatabase.fresh();
    private final FaultProxy proxy = new FaultProxy(database.server().port());
    private Trunkline successor;
    private ChildJvm stopped;
    private String pid;

    @BeforeEach
    void start() {
        successor = database.options().lease(Duration.ofSeconds(3)).open();
        successor.topics().create(TopicConfiguration.pubSub("orders").withPartitions(2));
        database.execute(EffectProcess.TABLES);
        stopped = ChildJvm.start(
                EffectProcess.class,
                proxy.jdbcUrl(database.name()),
                database.url(),
                database.server().user(),
                database.server().password());
        pid = readUntil(EffectProcess.STARTED).substring(EffectProcess.STARTED.length());
        await(() -> database.number("select count(*) from trunkline.holder where epoch = 1") == 2);
    }

    @AfterEach
    void close() {
        stopped.close();
        successor.close();
        proxy.close();
    }

    @Test
    void before_the_fence() throws Exception {
        publish(EffectProcess.WAIT);
        readUntil(EffectProcess.WAITING);
        signal("STOP");
        EffectProcess.consume(successor);
        await(() -> effects() == 1);
        assertThat(database.number("select epoch from effect")).isEqualTo(2);

        stopped.writeLine("go on");
        signal("CONT");
        assertOneEffectAfterItIsBack(2);
    }

    @ParameterizedTest
    @EnumSource(names = {"REQUEST_VANISHES", "REPLY_VANISHES"})
    void after_the_fence(Fate fate) throws Exception {
        proxy.trap("COMMIT", fate);
        publish(0);
        await(() -> proxy.trapped() == 1);
        signal("STOP");
        EffectProcess.consume(successor);
        await(() -> database.number("select count(*) from trunkline.holder where epoch = 2") == 2);
        await(() -> effects() == 1);

        proxy.cutNow();
        signal("CONT");
        assertOneEffectAfterItIsBack(fate.isHeard() ? 1 : 2);
    }

    /** The process has lost its session and takes part again, and both handle what comes. */
    private void assertOneEffectAfterItIsBack(int epoch) {
        await(() -> database.number("select count(distinct session) from trunkline.holder") == 2);
        publish(1);
        await(() -> effects() == 2);
        await(() -> database.number("select sum(lag) from trunkline.lag('g', 'orders')") == 0);
        assertThat(database.number("select epoch from effect order by id limit 1"))
                .isEqualTo(epoch);
        assertThat(database.number("select count(*) from trunkline.progress where epoch = 1"))
                .isEqualTo(epoch == 1 ? 1 : 0);
        assertThat(database.number("select count(*) from trunkline.dead_letter"))
                .isZero();
    }

    private void publish(int number) {
        successor
                .publisher()
                .publish(Message.of("orders", Integer.toString(number)).withKey("k"));
    }

    private long effects() {
        return database.number("select count(*) from effect");
    }

    private String readUntil(String beginning) {
        String line = stopped.readLine();
        while (line != null && !line.startsWith(beginning)) {
            line = stopped.readLine();
        }
        assertThat(line).as("what a consumer says").isNotNull();
        return line;
    }

    private void signal(String name) throws Exception {
        int code =
                new ProcessBuilder("kill", "-" + name, pid).inheritIO().start().waitFor();
        assertThat(code).isZero();
    }

    private static void await(Callable<Boolean> condition) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(50))
                .until(condition);
    }
}
