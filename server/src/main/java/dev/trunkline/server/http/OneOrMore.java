package dev.trunkline.server.http;

import java.lang.reflect.Type;

/** The type of a body that is a value, or an array of several. */
record OneOrMore(Class<?> of) implements Type {

    static OneOrMore of(Class<?> type) {
        return new OneOrMore(type);
    }
}
