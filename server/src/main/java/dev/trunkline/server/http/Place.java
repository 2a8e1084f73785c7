package dev.trunkline.server.http;

import dev.trunkline.TopicSemantics;
import dev.trunkline.Trunkline;

/**
 * A group and its topic, as the library calls them. The one group of a queue has no name there, and is called {@code shared} in paths.
 *
 * @param shown what the group is called in paths
 */
record Place(String group, String topic, String shown) {

    private static final String SHARED = "shared";

    static Place of(Exchange exchange, Trunkline trunkline) {
        String topic = exchange.path("topic");
        String shown = exchange.path("group");
        boolean queue = shown.equals(SHARED)
                && trunkline
                        .topics()
                        .find(topic)
                        .filter(its -> its.semantics() == TopicSemantics.QUEUE)
                        .isPresent();
        return new Place(queue ? "" : shown, topic, shown);
    }

    /** Of a group that there is. */
    static Place existing(Exchange exchange, Trunkline trunkline) {
        Place place = of(exchange, trunkline);
        if (trunkline.admin().find(place.group(), place.topic()).isEmpty()) {
            throw place.isNot(trunkline);
        }
        return place;
    }

    /** What a group is called in paths. */
    static String shown(String group) {
        return group.isEmpty() ? SHARED : group;
    }

    /** That there is no such group, or not even its topic. */
    Problem isNot(Trunkline trunkline) {
        return trunkline.topics().find(topic).isEmpty()
                ? new Problem(404, "there is no topic \"" + topic + "\"").with("field", "topic")
                : new Problem(404, "topic \"" + topic + "\" has no group \"" + shown + "\"").with("field", "group");
    }
}
