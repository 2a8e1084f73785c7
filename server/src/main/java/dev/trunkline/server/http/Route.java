package dev.trunkline.server.http;

import java.util.List;
import java.util.Optional;

/**
 * What can be asked.
 *
 * @param template its path, with names in braces: each stands for one part, percent-encoded
 * @param verb what the caller must be allowed to; empty: everybody is
 */
record Route(String method, String template, Optional<Verb> verb, Action action) {

    /** What is done. */
    @FunctionalInterface
    interface Action {
        void on(Exchange exchange) throws Exception;
    }

    static Route of(String method, String template, Verb verb, Action action) {
        return new Route(method, template, Optional.of(verb), action);
    }

    /** For everybody. */
    static Route open(String method, String template, Action action) {
        return new Route(method, template, Optional.empty(), action);
    }

    List<String> parts() {
        return List.of(template.substring(1).split("/", -1));
    }

    @Override
    public String toString() {
        return method + " " + template;
    }
}
