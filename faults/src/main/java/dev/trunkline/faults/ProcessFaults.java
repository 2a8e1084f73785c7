package dev.trunkline.faults;

import dev.trunkline.Message;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.rig.FaultProxy.Fate;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What is done to the processes of the crowd. */
final class ProcessFaults {

    /** Processes that want a processor, for each that there is. */
    private static final int GREEDY = 4;

    /** None: any. */
    private static final List<Optional<Fatal.Moment>> MOMENTS = Stream.concat(
                    Stream.of(Optional.<Fatal.Moment>empty()),
                    Stream.of(Fatal.Moment.values()).map(Optional::of))
            .toList();

    /** What becomes of a publish whose publisher dies of it; none: any. */
    private static final List<Optional<Fate>> UNANSWERED =
            List.of(Optional.empty(), Optional.of(Fate.REQUEST_VANISHES), Optional.of(Fate.REPLY_VANISHES));

    private static final String FENCED = "between fence and COMMIT";
    private static final List<String> STOPPED = List.of(FENCED, "at any moment");
    private static final String BEHIND_FENCE = """
            select split_part(s.name, '@', 1)::bigint
            from pg_stat_activity a join trunkline.session s on a.application_name = 'trunkline session ' || s.id
            where a.state = 'idle in transaction' and a.query like '%trunkline.fence(%'
                and a.state_change < clock_timestamp() - interval '200 ms'""";

    private static final String LATER = "later";
    private static final List<String> COMES_BACK = List.of("at once", LATER);

    private ProcessFaults() {}

    static List<Fault> all() {
        return List.of(
                new Fault("F1", "SIGKILL a consumer", ProcessFaults::killConsumer).sparingPublishers(),
                new Fault("F2", "SIGKILL a publisher", ProcessFaults::killPublisher),
                new Fault("F11", "SIGSTOP a consumer beyond its lease", ProcessFaults::stopConsumer)
                        .sparingPublishers(),
                new Fault("F12", "starve all of processor time, with pauses", ProcessFaults::starve)
                        .sparingPublishers(),
                new Fault("F19", "SIGKILL all consumers, start twice as many at once", ProcessFaults::stampede)
                        .sparingPublishers());
    }

    /** At any moment, or at one that a message has it end at. It comes back before others notice, or after they have taken over. */
    private static void killConsumer(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(2));
        Optional<Fatal.Moment> moment = trial.draw(MOMENTS);
        Crowd.Member victim = moment.isPresent() ? die(trial, moment.get()) : kill(trial);
        long pid = victim.pid();
        CompletableFuture<Void> takenOver = CompletableFuture.runAsync(() -> trial.awaitTakenOver(pid));
        if (trial.draw(COMES_BACK).equals(LATER)) {
            takenOver.join();
        }
        victim.startAgain();
        takenOver.join();
        trial.awaitMore(100);
    }

    private static Crowd.Member kill(Trial trial) throws Exception {
        Crowd.Member victim = trial.oneOf(trial.crowd().consumers());
        trial.awaitOwning(victim.pid());
        trial.harm(victim, victim::kill);
        return victim;
    }

    private static Crowd.Member die(Trial trial, Fatal.Moment moment) throws Exception {
        trial.harm(() -> publish(trial, moment));
        return dead(trial).orElseThrow();
    }

    private static Optional<Crowd.Member> dead(Trial trial) {
        return trial.crowd().consumers().stream()
                .filter(consumer -> !consumer.isAlive())
                .findFirst();
    }

    /** Returns when somebody has died of it. */
    private static void publish(Trial trial, Fatal.Moment moment) {
        publish(trial, Workload.message(Workload.ORDERS, new Fatal(trial.events(), moment).value(), trial.random()));
        Standing.await("somebody dies of it", () -> dead(trial).isPresent());
    }

    private static void publish(Trial trial, Message message) {
        try (Trunkline trunkline = trial.open()) {
            String call = trial.journal().publish(Way.PUBLISH, Workload.ORDERS, Workload.contents(List.of(message)));
            trunkline.publisher().publish(message);
            trial.journal().end(call, Outcome.OK);
        }
    }

    /** At any moment, or while it waits for an answer. The one that follows it sends what has got none again. */
    private static void killPublisher(Trial trial) throws Exception {
        trial.pause(Duration.ofMillis(500));
        Optional<Fate> fate = trial.draw(UNANSWERED);
        Crowd.Member victim = fate.isPresent()
                ? unanswered(trial, fate.get())
                : trial.oneOf(trial.crowd().publishers());
        victim.kill();
        trial.line().restore();
        List<Unanswered> left = Unanswered.of(trial.journals(), victim.name());
        if (fate.isPresent() && left.isEmpty()) {
            throw new IllegalStateException(victim.name() + " had its answer");
        }
        victim.startAgain();
        Standing.await(
                "what had no answer is sent again",
                () -> left.stream().allMatch(each -> each.isAnswered(trial.journals(), victim.name())));
        trial.awaitMore(100);
    }

    /** One that waits for an answer that will not come, of a publish with idempotency keys. */
    private static Crowd.Member unanswered(Trial trial, Fate fate) {
        int before = trial.line().trapped();
        trial.line().trap(Unanswered.KEY, fate);
        Standing.await("somebody is caught", () -> trial.line().trapped() > before);
        AtomicReference<Crowd.@Nullable Member> found = new AtomicReference<>();
        Standing.await("somebody waits", () -> {
            for (Crowd.Member publisher : trial.crowd().publishers()) {
                List<Unanswered> now = Unanswered.of(trial.journals(), publisher.name());
                LockSupport.parkNanos(200_000_000);
                now.retainAll(Unanswered.of(trial.journals(), publisher.name()));
                if (!now.isEmpty()) {
                    found.set(publisher);
                }
            }
            return found.get() != null;
        });
        return Objects.requireNonNull(found.get());
    }

    /** Others have what it had, and go on with it, while it is still stopped: at any moment, or between the fence and COMMIT of a handler's transaction. */
    private static void stopConsumer(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(1));
        Crowd.Member victim = trial.draw(STOPPED).equals(FENCED)
                ? fenced(trial)
                : trial.oneOf(trial.crowd().consumers());
        trial.awaitOwning(victim.pid());
        trial.harm(victim, () -> {
            victim.signal("STOP");
            try {
                trial.awaitTakenOverWhileItLives(victim.pid());
                trial.awaitMore(100);
                trial.pause(Duration.ofSeconds(2));
            } finally {
                victim.signal("CONT");
                trial.line().restore();
            }
        });
        trial.awaitMore(100);
    }

    /** One that was found to be the owner, and does not hear of it: its transaction stays open, and holds what its successor needs. */
    private static Crowd.Member fenced(Trial trial) {
        int before = trial.line().trapped();
        trial.line().trap("trunkline.fence(", Fate.REPLY_VANISHES);
        Standing.await("somebody is caught", () -> trial.line().trapped() > before);
        long[] pid = new long[1];
        Standing.await("somebody waits behind the fence", () -> {
            pid[0] = trial.standing().number(BEHIND_FENCE);
            return pid[0] != 0;
        });
        return trial.crowd().consumers().stream()
                .filter(consumer -> consumer.pid() == pid[0])
                .findFirst()
                .orElseThrow();
    }

    /** Pauses as of a collector, shorter than half the lease: nobody is taken for dead. */
    private static void starve(Trial trial) throws Exception {
        List<Process> greedy = new ArrayList<>();
        long before = endedSessions(trial);
        try {
            for (int i = 0; i < GREEDY * Runtime.getRuntime().availableProcessors(); i++) {
                greedy.add(new ProcessBuilder("sh", "-c", "while kill -0 $PPID; do :; done").start());
            }
            Crowd.Member victim = trial.oneOf(trial.crowd().consumers());
            trial.harm(victim, () -> {
                victim.signal("STOP");
                trial.pause(Address.LEASE.dividedBy(2));
                victim.signal("CONT");
            });
            trial.awaitMore(100);
            if (endedSessions(trial) > before) {
                throw new IllegalStateException("a process that lives was taken for dead");
            }
        } finally {
            greedy.forEach(Process::destroyForcibly);
        }
    }

    /** None of the crowd has ended its own. */
    private static long endedSessions(Trial trial) throws SQLException {
        return trial.standing().number("select count(*) from trunkline.session where ended_at is not null");
    }

    private static void stampede(Trial trial) throws Exception {
        trial.pause(Duration.ofSeconds(1));
        trial.harm(() -> {
            for (Crowd.Member consumer : trial.crowd().consumers()) {
                consumer.kill();
            }
        });
        List<Thread> starts = new ArrayList<>();
        for (Crowd.Member consumer : trial.crowd().consumers()) {
            starts.add(Thread.ofPlatform().start(consumer::startAgain));
        }
        List<Crowd.Member> more = new ArrayList<>();
        for (int i = 0; i < trial.crowd().consumers().size(); i++) {
            more.add(trial.crowd().newConsumer());
        }
        for (Thread start : starts) {
            start.join();
        }
        trial.awaitMore(100);
        for (Crowd.Member each : more) {
            each.stop();
        }
        trial.awaitMore(100);
    }
}
