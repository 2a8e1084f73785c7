package dev.trunkline.jackson;

import dev.trunkline.BackfillConfiguration;
import dev.trunkline.Batching;
import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * How to open Trunkline and to start its groups, out of a YAML file.
 *
 * {@snippet lang=yaml :
 * database:
 *   url: jdbc:postgresql://localhost/shop   # and directUrl, poolSize, schema
 *   user: ${DB_USER:shop}
 *   password: ${DB_PASSWORD}
 * waitPeriodMs: 200                         # and leaseMs, shutdownHook
 * groups:
 *   - groupId: emails                       # left out: that of a queue
 *     topic: orders
 *     start: beginning                      # or now, or a time: 2026-11-16T08:00:00Z
 *     totalPartitions: 16                   # what the topic must have
 *     partitionIds: [0, 1]                  # or partitionId; left out: a share of all
 *     batchSize: 100                        # and batchUnit: key, partition or work; unitLimit
 *     handlerTimeoutMs: 60000               # and concurrency, window
 *     retry: {attempts: 5, firstDelayMs: 1000, longestDelayMs: 60000, exhausted: park} # or skip
 * }
 *
 * {@snippet :
 * Configuration configuration = Configuration.read(Path.of("trunkline.yaml"));
 * try (Trunkline trunkline = configuration.builder().open()) {
 *     Configuration.Group emails = configuration.group("emails");
 *     emails.create(trunkline, Order.class).addTransactionalConsumer("mailer", handler).start(emails.options());
 * }
 * }
 *
 * <p>What is left out is as in {@link Trunkline.Builder} and {@link SubscriptionOptions}, which also say what is allowed; {@code topic} and
 * {@code start} must be there, and so must url, user and password unless the application gives the builder its own pool. {@code ${NAME}} is
 * an environment variable, {@code ${NAME:default}} one that may be missing, <code>$${</code> a plain <code>${</code>. All is checked when it is read: an
 * {@link IllegalArgumentException} names the key and what is allowed, and never a password.
 */
public final class Configuration {

    private static final int MOST_PARTITIONS = 1024;

    private final Setting root;
    private final List<Group> groups = new ArrayList<>();

    /**
     * A group of the file.
     *
     * @param groupId its name
     * @param totalPartitions how many partitions the topic must have, if it matters
     */
    public record Group(String groupId, String topic, OptionalInt totalPartitions, SubscriptionOptions options) {

        /**
         * The group, in this process: add its consumers and start it with {@link #options}.
         *
         * @throws ConsumerGroupException if the topic has not as many partitions as it must have
         * @throws UnknownTopicException if there is no such topic, and its partitions matter
         */
        public <T> ConsumerGroup<T> create(Trunkline trunkline, Class<T> type) {
            totalPartitions.ifPresent(expected -> requirePartitions(trunkline, expected));
            return trunkline.createConsumerGroup(groupId, topic, type);
        }

        private void requirePartitions(Trunkline trunkline, int expected) {
            int partitions = trunkline
                    .topics()
                    .find(topic)
                    .orElseThrow(
                            () -> new UnknownTopicException("there is no topic \"" + topic + "\": create it first"))
                    .partitions();
            if (partitions != expected) {
                throw new ConsumerGroupException("the configuration of group " + label() + " has totalPartitions: "
                        + expected + ", but the topic has " + partitions + ": correct it and look at its partitionIds");
            }
        }

        private boolean is(String otherId, String otherTopic) {
            return groupId.equals(otherId) && topic.equals(otherTopic);
        }

        private String label() {
            return "\"" + groupId + "\" on topic \"" + topic + "\"";
        }
    }

    Configuration(Setting root) {
        this.root = root.known("database leaseMs waitPeriodMs shutdownHook groups");
        builder();
        for (Setting setting : root.at("groups").list()) {
            Group group = group(setting);
            if (groups.stream().anyMatch(other -> other.is(group.groupId, group.topic))) {
                throw setting.at("groupId").refuse("repeats group " + group.label() + ": leave one out");
            }
            groups.add(group);
        }
    }

    /**
     * Reads a file.
     *
     * @throws UncheckedIOException if it can not be read
     */
    public static Configuration read(Path file) {
        try {
            return parse(Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException("can not read " + file + ": it must be a file of UTF-8 text", e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }

    public static Configuration parse(String yaml) {
        return new Configuration(Setting.parse(yaml, System::getenv));
    }

    /** A new builder, as the file says, to open or to change further. */
    public Trunkline.Builder builder() {
        Setting database = root.at("database");
        Trunkline.Builder builder = database.isThere() ? database(database) : Trunkline.builder();
        root.with("leaseMs", setting -> setting.millis(1), builder, Trunkline.Builder::lease);
        root.with("waitPeriodMs", setting -> setting.millis(1), builder, Trunkline.Builder::pollInterval);
        return root.with("shutdownHook", Setting::flag, builder, Trunkline.Builder::shutdownHook);
    }

    /** The groups, in the order of the file. */
    public List<Group> groups() {
        return List.copyOf(groups);
    }

    /** The group of that name, if it is on one topic only. */
    public Group group(String groupId) {
        return only(group -> group.groupId.equals(groupId), "\"" + groupId + "\"");
    }

    /** The group of that name on a topic; the name is empty for the shared group of a queue. */
    public Group group(String groupId, String topic) {
        return only(group -> group.is(groupId, topic), "\"" + groupId + "\" on topic \"" + topic + "\"");
    }

    private Group only(Predicate<Group> wanted, String what) {
        List<Group> found = groups.stream().filter(wanted).toList();
        if (found.size() != 1) {
            throw new IllegalArgumentException("the configuration has " + found.size() + " groups " + what
                    + ", of these: " + groups.stream().map(Group::label).toList());
        }
        return found.getFirst();
    }

    @Override
    public String toString() {
        return "configuration of groups " + groups;
    }

    private static Trunkline.Builder database(Setting database) {
        database.known("url user password directUrl poolSize schema");
        Trunkline.Builder builder = Trunkline.builder();
        if (Stream.of("url", "user", "password", "directUrl")
                .anyMatch(key -> database.at(key).isThere())) {
            builder.url(
                    database.at("url").jdbcUrl(),
                    database.at("user").name(),
                    database.at("password").text());
        }
        database.with("directUrl", Setting::jdbcUrl, builder, Trunkline.Builder::directUrl);
        database.with("poolSize", Setting::number, builder, Trunkline.Builder::poolSize);
        return database.with("schema", Setting::text, builder, Trunkline.Builder::schema);
    }

    private static Group group(Setting group) {
        group.known("groupId topic start concurrency window batchSize batchUnit unitLimit"
                + " partitionId partitionIds totalPartitions handlerTimeoutMs deadAfterMs backfill retry");
        String groupId = group.read("groupId", Setting::name, ConsumerGroup.SHARED);
        String topic = group.at("topic").name();
        OptionalInt total =
                group.read("totalPartitions", s -> OptionalInt.of(s.number(1, MOST_PARTITIONS)), OptionalInt.empty());
        SubscriptionOptions options = SubscriptionOptions.from(group.at("start").start());
        options = group.with("deadAfterMs", s -> s.millis(1), options, SubscriptionOptions::withDeadAfter);
        options = group.with(
                "backfill",
                s -> s.oneOf(Map.of(
                        "conservative", BackfillConfiguration.conservative(),
                        "standard", BackfillConfiguration.standard(),
                        "aggressive", BackfillConfiguration.aggressive())),
                options,
                SubscriptionOptions::withBackfill);
        options = group.with("concurrency", Setting::number, options, SubscriptionOptions::withConcurrency);
        options = group.with("window", Setting::number, options, SubscriptionOptions::withWindow);
        options = group.with("handlerTimeoutMs", s -> s.millis(1), options, SubscriptionOptions::withHandlerTimeout);
        options = group.with("retry", Configuration::retry, options, SubscriptionOptions::withRetry);
        options =
                options.withBatching(batching(group)).withPartitions(partitions(group, total.orElse(MOST_PARTITIONS)));
        return new Group(groupId, topic, total, options);
    }

    private static RetryPolicy retry(Setting retry) {
        retry.known("attempts firstDelayMs longestDelayMs exhausted");
        RetryPolicy standard = RetryPolicy.standard();
        Duration first = retry.read("firstDelayMs", setting -> setting.millis(0), standard.first());
        Duration longest = retry.read("longestDelayMs", setting -> setting.millis(0), standard.longest());
        RetryPolicy policy = retry.at("longestDelayMs")
                .checked(() -> new RetryPolicy(standard.attempts(), first, longest, standard.exhausted()));
        policy = retry.with(
                "attempts", Setting::number, policy, (p, attempts) -> new RetryPolicy(attempts, first, longest));
        return retry.with(
                "exhausted",
                setting -> setting.oneOf(
                        Map.of("park", RetryPolicy.Exhausted.PARK_KEY, "skip", RetryPolicy.Exhausted.SKIP)),
                policy,
                (p, exhausted) -> new RetryPolicy(p.attempts(), first, longest, exhausted));
    }

    private static Batching batching(Setting group) {
        Batching batching = group.read(
                "batchUnit",
                setting -> setting.oneOf(Map.of(
                        "key", Batching.ofKey(1),
                        "partition", Batching.ofPartition(1),
                        "work", Batching.ofUnitsOfWork(1))),
                Batching.single());
        batching = group.with(
                "batchSize", Setting::number, batching, (b, size) -> new Batching(b.unit(), size, b.limit()));
        if (group.at("unitLimit").isThere() && batching.unit() != Batching.Unit.WORK) {
            throw group.at("unitLimit").refuse("limits units of work: use it with batchUnit: work, or leave it out");
        }
        return group.with("unitLimit", Setting::number, batching, Batching::withLimit);
    }

    private static Set<Integer> partitions(Setting group, int total) {
        Setting one = group.at("partitionId");
        Setting several = group.at("partitionIds");
        if (several.isThere() && (one.isThere() || several.list().isEmpty())) {
            throw several.refuse("must name partitions, with no partitionId beside it; left out: a share of all");
        }
        Set<Integer> partitions = new HashSet<>();
        for (Setting partition : one.isThere() ? List.of(one) : several.list()) {
            if (!partitions.add(partition.number(0, total - 1))) {
                throw partition.refuse("is there twice: name a partition once");
            }
        }
        return partitions;
    }
}
