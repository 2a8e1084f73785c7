package dev.trunkline.consume;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicPattern;
import dev.trunkline.TrunklineException;
import dev.trunkline.WildcardGroup;
import dev.trunkline.database.Loop;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@link WildcardGroup}: starts a group for each topic that the database has subscribed it to, and closes those that are gone. The
 * database subscribes, in the transaction that creates a topic; here it is only found out.
 */
final class Wildcard<T> implements WildcardGroup<T> {

    private static final Logger log = LoggerFactory.getLogger(Wildcard.class);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final String name;
    private final TopicPattern pattern;
    private final Groups groups;
    private final Function<String, Group<T>> creation;
    private final GroupTable table;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Group<T>> consumed = new ConcurrentHashMap<>();
    /** Why topics are not consumed yet, as far as it was told. */
    private final Map<String, String> problems = new HashMap<>();

    private final Loop loop = new Loop("trunkline-wildcard", this::look);
    private @Nullable SubscriptionOptions started;
    private int number;
    private boolean closed;

    Wildcard(String name, TopicPattern pattern, Groups groups, Function<String, Group<T>> creation) {
        this.name = Objects.requireNonNull(name, "name");
        this.pattern = Objects.requireNonNull(pattern, "pattern");
        this.groups = groups;
        this.creation = creation;
        this.table = new GroupTable(groups.calls());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public TopicPattern pattern() {
        return pattern;
    }

    @Override
    public WildcardGroup<T> start(SubscriptionOptions options) {
        if (!options.partitions().isEmpty() || !options.keys().isEmpty()) {
            throw new ConsumerGroupException(
                    this + " is of several topics: partitions and keys can be named for one topic only");
        }
        lock.lock();
        try {
            if (started != null || closed) {
                throw new ConsumerGroupException(
                        this + (closed ? " is closed: create it anew" : " is started already"));
            }
            number = table.subscribe(name, pattern, options);
            started = options;
            groups.opened(this);
            try {
                for (String topic : missing()) {
                    beginUnlessGone(topic, options);
                }
            } catch (RuntimeException e) {
                end();
                throw e;
            }
            loop.start();
            return this;
        } finally {
            lock.unlock();
        }
    }

    /** Topics that are to be consumed here, and are not yet; another wildcard of the group may do it. */
    private Set<String> missing() {
        Map<String, Integer> topics = table.topics(number);
        consumed.forEach((topic, group) -> {
            // Another topic may have got the name since.
            Integer subscription = topics.get(topic);
            if (subscription == null || !group.isOf(subscription)) {
                log.info("{}: topic \"{}\" is no longer its own", this, topic);
                consumed.remove(topic);
                group.close();
            }
        });
        Set<String> missing = new TreeSet<>(topics.keySet());
        missing.removeIf(topic -> groups.isStarted(name, topic));
        return missing;
    }

    private void beginUnlessGone(String topic, SubscriptionOptions options) {
        try {
            begin(topic, options);
        } catch (TrunklineException e) {
            if (table.topics(number).containsKey(topic)) {
                throw e;
            }
            log.debug("{}: topic \"{}\" is gone", this, topic, e);
        }
    }

    private void begin(String topic, SubscriptionOptions options) {
        Group<T> group = creation.apply(topic);
        try {
            group.start(options);
        } catch (ConsumerGroupException e) {
            if (groups.isStarted(name, topic)) {
                log.debug("{}: another wildcard was quicker to start topic \"{}\"", this, topic, e);
                return;
            }
            throw e;
        }
        consumed.put(topic, group);
        log.info("{}: consumes topic \"{}\" from now on", this, topic);
    }

    private Duration look() {
        SubscriptionOptions options = Objects.requireNonNull(started, "not started");
        for (String topic : missing()) {
            try {
                begin(topic, options);
                problems.remove(topic);
            } catch (TrunklineException e) {
                String problem = String.valueOf(e.getMessage());
                if (!problem.equals(problems.put(topic, problem))) {
                    new Subject(name, topic)
                            .of(log.atWarn())
                            .log("{}: can not consume topic \"{}\" yet: {}", this, topic, problem);
                }
            }
        }
        return PAUSE;
    }

    @Override
    public Set<String> topics() {
        return new TreeSet<>(consumed.keySet());
    }

    @Override
    public ConsumerGroup<T> of(String topic) {
        Group<T> group = consumed.get(topic);
        if (group == null) {
            throw new ConsumerGroupException(this + " does not consume topic \"" + topic + "\" in this process, but "
                    + (consumed.isEmpty() ? "none" : String.join(", ", topics())));
        }
        return group;
    }

    @Override
    public void cancel() {
        table.cancelWildcard(name, pattern);
        close();
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed && started != null) {
                loop.close();
                end();
            }
            closed = true;
        } finally {
            lock.unlock();
        }
    }

    private void end() {
        closed = true;
        consumed.values().forEach(Group::close);
        consumed.clear();
        groups.closed(this);
    }

    @Override
    public String toString() {
        return "group \"" + name + "\" of topics by " + pattern;
    }
}
