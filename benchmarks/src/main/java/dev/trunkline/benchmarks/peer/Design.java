package dev.trunkline.benchmarks.peer;

import static dev.trunkline.benchmarks.peer.Design.Trait.FAN_OUT;
import static dev.trunkline.benchmarks.peer.Design.Trait.LOSES_LATE_COMMITS;
import static dev.trunkline.benchmarks.peer.Design.Trait.ORDER;
import static dev.trunkline.benchmarks.peer.Design.Trait.POSTGRES;
import static dev.trunkline.benchmarks.peer.Design.Trait.TRANSACTIONAL;

import dev.trunkline.benchmarks.database.Address;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * What is compared.
 *
 * @param name how it is called
 * @param words what it is, in one line
 * @param opening opens it in this process; if it needs a broker, that is started
 * @param traits what it can do
 * @param leastSeconds of a turn: one that looks for messages rarely would have found none in less
 */
public record Design(String name, String words, Opening opening, Set<Trait> traits, double leastSeconds) {

    public static final Design TRUNKLINE = trunkline(16);

    public static final Design TEXTBOOK = of(
            "textbook",
            "a status column: select … for update skip locked limit 1, handle, mark it done, commit; 2 connections",
            address -> new Textbook(address, 1),
            POSTGRES,
            TRANSACTIONAL);

    public static final Design TEXTBOOK_BATCHES = of(
            "textbook-batches",
            "a status column: select … for update skip locked limit 100, handle, mark them done, commit; 2 connections",
            address -> new Textbook(address, 100),
            POSTGRES,
            TRANSACTIONAL);

    public static final Design REFERENCE_COUNTS =
            of("reference-counts", ReferenceCounts.WORDS, ReferenceCounts::new, POSTGRES, TRANSACTIONAL, FAN_OUT);

    public static final Design VISIBILITY_TIMEOUT = of(
            "visibility-timeout",
            "a queue table: read 100 and hide them for 30 s, commit, handle, delete them, commit; 2 connections",
            VisibilityTimeout::new,
            POSTGRES,
            TRANSACTIONAL);

    public static final Design COUNTER_LOG = of(
            "counter-log",
            "a log whose offsets come from one counter row; a group moves its offset, handles 500, commits; LISTEN",
            Log::ofCounter,
            POSTGRES,
            TRANSACTIONAL,
            FAN_OUT,
            ORDER);

    public static final Design SEQUENCE_LOG = of(
            "sequence-log",
            "a log with bigserial ids; a group handles 500 after the last id it has seen, commits; loses late commits",
            Log::ofSequence,
            POSTGRES,
            TRANSACTIONAL,
            FAN_OUT,
            ORDER,
            LOSES_LATE_COMMITS);

    public static final Design DB_SCHEDULER = of(
            "db-scheduler",
            "db-scheduler 16.12.0, a one-time task for each message: lock-and-fetch of up to 120, 10 threads",
            DbScheduler::new,
            POSTGRES);

    public static final Design JOBRUNR = of(
                    "jobrunr",
                    "JobRunr 8.7.0, free edition, a job for each message: 32 workers, polls every 5 s, the least it allows",
                    JobRunner::new,
                    POSTGRES)
            .lasting(15);

    public static final Design KAFKA = of(
            "kafka",
            "Kafka, one broker with a heap of 1 GB that never waits for the disk; acks=all, idempotent, linger.ms 5 (the default)",
            address -> new Kafka(),
            FAN_OUT,
            ORDER);

    public static final Design KAFKA_FLUSH = of(
            "kafka-flush",
            "the same Kafka with log.flush.interval.messages=1: it acknowledges what is on the disk",
            address -> new Kafka("log.flush.interval.messages=1"),
            FAN_OUT,
            ORDER);

    public static final Design ARTEMIS = of(
            "artemis",
            "ActiveMQ Artemis by JMS, one broker with a heap of 1 GB, its journal synced and tuned to the disk; 100 messages a commit of a consumer",
            address -> new Artemis(),
            FAN_OUT,
            ORDER);

    public static final List<Design> ALL = List.of(
            TRUNKLINE,
            TEXTBOOK,
            TEXTBOOK_BATCHES,
            VISIBILITY_TIMEOUT,
            REFERENCE_COUNTS,
            COUNTER_LOG,
            SEQUENCE_LOG,
            DB_SCHEDULER,
            JOBRUNR,
            KAFKA,
            KAFKA_FLUSH,
            ARTEMIS);

    /** Enough for a first look. */
    public static final List<Design> FEW =
            List.of(TRUNKLINE, TEXTBOOK_BATCHES, VISIBILITY_TIMEOUT, REFERENCE_COUNTS, KAFKA);

    /** What a design can do. */
    public enum Trait {
        /** Its messages are in PostgreSQL. */
        POSTGRES,
        /** A message can be published in the transaction of the caller. */
        TRANSACTIONAL,
        /** A message goes to each of several groups without being published for each. */
        FAN_OUT,
        /** Messages of one key are handled one after the other, in the order in which they were published. */
        ORDER,
        /** Messages whose transaction commits after that of later ones do not arrive: there is no use in measuring how fast. */
        LOSES_LATE_COMMITS
    }

    /** Opens a peer. */
    @FunctionalInterface
    public interface Opening {
        Peer open(Address address) throws Exception;
    }

    private static Design of(String name, String words, Opening opening, Trait... traits) {
        return new Design(name, words, opening, Set.copyOf(Arrays.asList(traits)), 1);
    }

    /** Trunkline with a topic of so many partitions; 16 is the default. */
    public static Design trunkline(int partitions) {
        return of(
                "trunkline",
                "Trunkline, a topic of %d partitions".formatted(partitions),
                address -> new Trunk(address, partitions),
                POSTGRES,
                TRANSACTIONAL,
                FAN_OUT,
                ORDER);
    }

    /** The one that is called so. */
    public static Design named(String name) {
        return ALL.stream()
                .filter(design -> design.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private Design lasting(double newLeastSeconds) {
        return new Design(name, words, opening, traits, newLeastSeconds);
    }

    public boolean has(Trait trait) {
        return traits.contains(trait);
    }

    public Peer open(Address address) throws Exception {
        return opening.open(address);
    }
}
