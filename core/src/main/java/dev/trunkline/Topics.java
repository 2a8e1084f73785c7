package dev.trunkline;

import java.util.List;
import java.util.Optional;

/** The topics of an installation. All methods work in transactions of their own and may be called from any thread. */
public interface Topics {

    /**
     * Creates a topic.
     *
     * @throws TopicExistsException if there is one of that name
     * @throws InvalidTopicException if the configuration is not allowed; it says what is
     */
    void create(TopicConfiguration configuration);

    /** Creates the topic, or alters it if it is there. */
    void configure(TopicConfiguration configuration);

    /**
     * Changes what can be changed on a live topic: semantics, namespace, task, retention, limits and segments.
     *
     * @throws UnknownTopicException if there is none of that name
     * @throws InvalidTopicException if the configuration differs in what stays for life
     */
    void alter(TopicConfiguration configuration);

    Optional<TopicConfiguration> find(String name);

    /** All topics, by name. */
    List<TopicConfiguration> list();

    /**
     * Drops a topic with all its messages, relayed or not. Needs the owner's rights in the database.
     *
     * @throws UnknownTopicException if there is none of that name
     */
    void drop(String name);

    /** Chooses, for the whole installation, what happens to messages for topics that nobody has created. */
    void unconfigured(UnconfiguredTopics choice);

    /** Chooses, for the whole installation, where groups begin that do not say: {@code NOW} at first. Groups that exist stay where they are. */
    void defaultStart(Start.Mode choice);
}
