package dev.trunkline.server.http;

import dev.trunkline.Trunkline;

/** A group and its topic, as a path names them. */
record Place(String group, String topic) {

    static Place of(Exchange exchange) {
        return new Place(exchange.path("group"), exchange.path("topic"));
    }

    /** Of a group that there is. */
    static Place existing(Exchange exchange, Trunkline trunkline) {
        Place place = of(exchange);
        if (trunkline.admin().find(place.group(), place.topic()).isEmpty()) {
            throw place.isNot(trunkline);
        }
        return place;
    }

    /** That there is no such group, or not even its topic. */
    Problem isNot(Trunkline trunkline) {
        return trunkline.topics().find(topic).isEmpty()
                ? new Problem(404, "there is no topic \"" + topic + "\"").with("field", "topic")
                : new Problem(404, "topic \"" + topic + "\" has no group \"" + group + "\"").with("field", "group");
    }
}
