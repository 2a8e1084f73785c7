package dev.trunkline.server.http;

import java.lang.reflect.Type;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What can be asked, by whom, and what is answered: the server goes by it, and {@link OpenApi} tells it.
 *
 * @param template its path, with names in braces: each stands for one part, percent-encoded
 * @param verb what the caller must be allowed to; empty: everybody is
 * @param says what it does
 * @param query the parameters that it knows; others are refused
 * @param headers those that it goes by
 * @param bodies what a request may say, by content type
 * @param answers what is answered if all goes well, by status
 */
record Route(
        String method,
        String template,
        Optional<Verb> verb,
        Action action,
        String says,
        List<Parameter> query,
        List<Parameter> headers,
        Map<String, Type> bodies,
        Map<Integer, Answer> answers) {

    static final int OK = 200;
    static final int CREATED = 201;
    static final int NO_CONTENT = 204;

    /** What is done. */
    @FunctionalInterface
    interface Action {
        void on(Exchange exchange) throws Exception;
    }

    /** What is answered: {@code void} has no body. */
    record Answer(String contentType, Type type) {}

    static Route of(String method, String template, Verb verb, String says, Action action) {
        return new Route(method, template, Optional.of(verb), action, says, List.of(), List.of(), Map.of(), Map.of());
    }

    /** For everybody. */
    static Route open(String method, String template, String says, Action action) {
        return new Route(method, template, Optional.empty(), action, says, List.of(), List.of(), Map.of(), Map.of());
    }

    Route query(Parameter... parameters) {
        return new Route(method, template, verb, action, says, List.of(parameters), headers, bodies, answers);
    }

    Route header(Parameter... parameters) {
        return new Route(method, template, verb, action, says, query, List.of(parameters), bodies, answers);
    }

    /** The body is JSON. */
    Route takes(Type type) {
        return takes(Exchange.JSON, type);
    }

    Route takes(String contentType, Type type) {
        Map<String, Type> more = new LinkedHashMap<>(bodies);
        more.put(contentType, type);
        return new Route(method, template, verb, action, says, query, headers, more, answers);
    }

    /** The answer is JSON. */
    Route answers(int status, Type type) {
        return answers(status, Exchange.JSON, type);
    }

    Route answers(int status, String contentType, Type type) {
        Map<Integer, Answer> more = new LinkedHashMap<>(answers);
        more.put(status, new Answer(contentType, type));
        return new Route(method, template, verb, action, says, query, headers, bodies, more);
    }

    /** It has no body. */
    Route answersNothing() {
        return answers(NO_CONTENT, "", void.class);
    }

    /** Whether it can be asked for without its body, too. */
    boolean isPlainGet() {
        return method.equals("GET")
                && answers.values().stream()
                        .noneMatch(answer -> answer.contentType().equals(Events.TYPE));
    }

    List<String> parts() {
        return List.of(template.substring(1).split("/", -1));
    }

    @Override
    public String toString() {
        return method + " " + template;
    }
}
