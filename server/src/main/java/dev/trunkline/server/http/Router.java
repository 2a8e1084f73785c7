package dev.trunkline.server.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpStatus;

/** Finds the route of a request. A part of a path may be any name: what separates parts is looked for before they are decoded. */
final class Router {

    private final List<Route> routes;
    /** Of each route, in its order. */
    private final List<List<String>> templates;

    Router(List<Route> routes) {
        this.routes = List.copyOf(routes);
        this.templates = routes.stream().map(Route::parts).toList();
    }

    /** A route, and what stands for the names in its template. */
    record Found(Route route, Map<String, String> path) {}

    List<Route> routes() {
        return routes;
    }

    /** @param path as it was sent */
    Found find(String method, String path) {
        if (!path.startsWith("/")) {
            throw nothingAt(path);
        }
        List<String> parts = new ArrayList<>();
        for (String part : path.substring(1).split("/", -1)) {
            parts.add(decode(part));
        }
        List<String> others = new ArrayList<>();
        for (int i = 0; i < routes.size(); i++) {
            Route route = routes.get(i);
            Optional<Map<String, String>> match = match(templates.get(i), parts);
            if (match.isPresent()) {
                if (route.method().equals(method) || (method.equals("HEAD") && route.isPlainGet())) {
                    return new Found(route, match.get());
                }
                others.add(route.method());
            }
        }
        if (others.isEmpty()) {
            throw nothingAt(path);
        }
        throw new Problem(
                        HttpStatus.METHOD_NOT_ALLOWED_405,
                        path + " knows " + String.join(", ", others) + ", not " + method)
                .with(Problem.ALLOW, others);
    }

    private static Problem nothingAt(String path) {
        return new Problem(HttpStatus.NOT_FOUND_404, "there is nothing at \"" + path + "\": see /openapi.json");
    }

    private static Optional<Map<String, String>> match(List<String> template, List<String> parts) {
        if (template.size() != parts.size()) {
            return Optional.empty();
        }
        Map<String, String> names = new HashMap<>();
        for (int i = 0; i < parts.size(); i++) {
            String expected = template.get(i);
            if (expected.startsWith("{")) {
                if (parts.get(i).isEmpty()) {
                    return Optional.empty();
                }
                names.put(expected.substring(1, expected.length() - 1), parts.get(i));
            } else if (!expected.equals(parts.get(i))) {
                return Optional.empty();
            }
        }
        return Optional.of(names);
    }

    /** Strictly: what is not UTF-8, or no percent-encoding, is refused. */
    private static String decode(String part) {
        byte[] raw = part.getBytes(StandardCharsets.ISO_8859_1);
        ByteBuffer bytes = ByteBuffer.allocate(raw.length);
        for (int i = 0; i < raw.length; i++) {
            if (raw[i] != '%') {
                bytes.put(raw[i]);
                continue;
            }
            int high = i + 2 < raw.length ? Character.digit(raw[i + 1], 16) : -1;
            int low = i + 2 < raw.length ? Character.digit(raw[i + 2], 16) : -1;
            if (high < 0 || low < 0) {
                throw Problem.of("path", "the path is not percent-encoded: " + part);
            }
            bytes.put((byte) (high * 16 + low));
            i += 2;
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
        } catch (CharacterCodingException e) {
            throw Problem.of("path", "the path is not UTF-8: " + part);
        }
    }
}
