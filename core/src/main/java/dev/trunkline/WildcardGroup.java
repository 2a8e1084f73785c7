package dev.trunkline;

import java.util.Set;

/**
 * A consumer group of all topics that fit a pattern, those that are created later included, in this process. For each topic it has a {@link
 * ConsumerGroup} of that name, with its own place in the topic. Where a topic fits several patterns of a group, the group has it once; the
 * pattern that says most decides where it begins: one with a name before one with a namespace before one with a task. A topic that
 * the group subscribed to by itself stays as it is, and one that was cancelled by itself does not come back.
 *
 * {@snippet :
 * WildcardGroup<Event> audit = trunkline.createConsumerGroup(
 *         "audit", TopicPattern.namespace("shop"), Event.class, group -> group.addConsumer("auditor", this::audit));
 * audit.start(SubscriptionOptions.fromNow());
 * }
 *
 * @param <T> what payloads are decoded to
 */
public interface WildcardGroup<T> extends AutoCloseable {

    String name();

    TopicPattern pattern();

    /**
     * Starts to consume in this process: the topics that fit now, and, within a second or two, those that come to fit. They are read from when
     * the group began, whenever they are found.
     *
     * @throws ConsumerGroupException if a group has no consumer, or it was started already, or is closed, or begins at a place that is of one
     *     topic
     */
    WildcardGroup<T> start(SubscriptionOptions options);

    /** The topics that it consumes in this process. */
    Set<String> topics();

    /**
     * Its group of one topic.
     *
     * @throws ConsumerGroupException if it does not consume that topic in this process
     */
    ConsumerGroup<T> of(String topic);

    /** Ends the group in all processes, for good, for this pattern: topics that fit another pattern of the group stay. */
    void cancel();

    /** Stops consuming in this process. */
    @Override
    void close();
}
