package dev.trunkline.server.http;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** Requests to every route, made of those that {@link HostileRequests} knows, with something changed at random. */
final class FuzzedRequests {

    /** Stands for what there is when a request is sent. */
    static final HostileRequests.Scene ANY =
            new HostileRequests.Scene("TOPICNAME", "GROUPNAME", "BATCHTOKEN", "LETTERID", "MESSAGEID", "KEYID");

    static final String ANY_KEY = "tl_" + "k".repeat(43);

    private static final int MOST_BYTES = 6_000;
    private static final int SHOWN = 2_000;
    /** Of so many draws of a route that costs much, one counts. */
    private static final int RARE = 20;

    private static final List<String> METHODS =
            List.of("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW", "get", "P\u00d6ST");
    private static final List<String> HEADERS = List.of(
            "Accept: text/html",
            "Accept-Encoding: gzip;q=2, *",
            "Accept-Charset: utf-16",
            "Content-Encoding: gzip",
            "Content-Type: application/x-ndjson",
            "Content-Type: application/json; charset=utf-16",
            "Connection: close",
            "Connection: upgrade, http2-settings",
            "Upgrade: h2c",
            "Cookie: a=b; =; ;",
            "Expect: 100-continue",
            "Expect: miracles",
            "Forwarded: for=\"[::1]\"",
            "Host: other:99999",
            "Idempotency-Key: again",
            "If-None-Match: *",
            "Last-Event-ID: 0:0",
            "Range: bytes=0-1",
            "TE: trailers",
            "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "traceparent: 00-00000000000000000000000000000000-0000000000000000-ff",
            "X-Forwarded-For: 1.2.3.4",
            "X-HTTP-Method-Override: DELETE");

    /**
     * A request.
     *
     * @param asIs whether nothing of its path or method was changed
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Fuzzed(Route route, String head, byte[] body, boolean asIs) {

        String method() {
            return head.substring(0, head.indexOf(' '));
        }

        /** As it is sent, without its query; the server takes several spaces before it for one. */
        String path() {
            return head.lines().findFirst().orElse("").split(" +", 3)[1].split("[?#]", 2)[0];
        }

        @Override
        public String toString() {
            return shown(head + new String(body, StandardCharsets.ISO_8859_1));
        }
    }

    static String shown(String latin) {
        StringBuilder shown = new StringBuilder();
        latin.chars().limit(SHOWN).forEach(c -> shown.append(c < ' ' || c > '~' ? "\\x%02x".formatted(c) : (char) c));
        return shown.toString();
    }

    private final List<Route> routes;
    private final Map<Route, List<HostileRequests.Odd>> good = new LinkedHashMap<>();
    private final Map<Route, List<HostileRequests.Odd>> bad = new LinkedHashMap<>();

    FuzzedRequests(List<Route> routes) {
        this.routes = List.copyOf(routes);
        for (Route route : routes) {
            HostileRequests known = new HostileRequests(route, ANY, ANY, ANY, ANY_KEY);
            good.put(route, new ArrayList<>(List.of(known.good())));
            bad.put(route, new ArrayList<>());
            for (HostileRequests.Odd odd : known.all()) {
                if (odd.head().length() + odd.body().length <= MOST_BYTES
                        && odd.head().indexOf('\n') > 0) {
                    (odd.legal() ? good : bad).get(route).add(odd);
                }
            }
        }
    }

    /** What makes something that stays, ends something, or goes on for ever: others would have nothing left to do. */
    static boolean isRare(Route route) {
        boolean makes = route.method().equals("POST") && !route.template().contains("{");
        boolean streams = route.answers().values().stream()
                .anyMatch(answer -> answer.contentType().equals(Events.TYPE));
        return makes
                || streams
                || route.method().equals("DELETE")
                || route.template().equals("/metrics");
    }

    Route route(RandomGenerator random) {
        Route route = routes.get(random.nextInt(routes.size()));
        return isRare(route) && random.nextInt(RARE) > 0 ? route(random) : route;
    }

    /** @param fill puts what there is in the place of what stands for it */
    Fuzzed next(Route route, UnaryOperator<String> fill, RandomGenerator random) {
        HostileRequests.Odd odd = one(random.nextInt(4) > 0 ? good.get(route) : bad.get(route), random);
        List<String> lines = new ArrayList<>(List.of(fill.apply(odd.head()).split("\r\n", -1)));
        byte[] body = odd.body();
        boolean asIs = !odd.part().equals("path") && !odd.isJunk();
        int changes = random.nextInt(10) == 0 ? 0 : 1 + random.nextInt(1 + random.nextInt(4));
        for (int i = 0; i < changes; i++) {
            int what = random.nextInt(10);
            if (what < 6 && !route.bodies().isEmpty()) {
                Route other = routes.get(random.nextInt(routes.size()));
                body = Mutations.change(body, one(good.get(other), random).body(), random);
            } else if (what < 8) {
                asIs = false;
                lines.set(0, FuzzedTarget.change(lines.getFirst(), route, random));
            } else if (what == 8) {
                header(lines, random);
            } else if (random.nextInt(4) == 0) {
                asIs = false;
                lines.set(0, lines.getFirst().replaceFirst("^[^ ]*", METHODS.get(random.nextInt(METHODS.size()))));
            }
        }
        StringBuilder head = new StringBuilder();
        lines.stream()
                .filter(line -> !line.isEmpty())
                .forEach(line -> head.append(line).append("\r\n"));
        return new Fuzzed(route, head.toString(), body, asIs);
    }

    private static void header(List<String> lines, RandomGenerator random) {
        int at = 1 + random.nextInt(lines.size());
        boolean end = at == lines.size();
        switch (random.nextInt(5)) {
            case 0 -> lines.add(at, HEADERS.get(random.nextInt(HEADERS.size())));
            case 1 -> lines.add(at, end ? "X: " + "y".repeat(random.nextInt(9_000)) : lines.get(at));
            case 2 -> {
                if (!end) {
                    lines.remove(at);
                }
            }
            default -> {
                byte[] line = (end ? "X-A: b" : lines.get(at)).getBytes(StandardCharsets.ISO_8859_1);
                String changed = new String(Mutations.change(line, line, random), StandardCharsets.ISO_8859_1)
                        .replaceAll("[\r\n]", "");
                lines.set(end ? at - 1 : at, at == 1 && end ? lines.get(0) : changed);
            }
        }
    }

    private static HostileRequests.Odd one(List<HostileRequests.Odd> some, RandomGenerator random) {
        return some.get(random.nextInt(some.size()));
    }
}
