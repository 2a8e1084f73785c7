package dev.trunkline.server.http;

import dev.trunkline.server.Address;
import dev.trunkline.server.Cli;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server over a real database, and a client that speaks real HTTP to it. */
final class Api implements AutoCloseable {

    static final long MOST_BYTES = 100_000;

    private static final JsonMapper JSON = new JsonMapper();

    private final HttpClient client = HttpClient.newHttpClient();
    private final Service service;
    private final @Nullable String key;

    private Api(Service service, @Nullable String key) {
        this.service = service;
        this.key = key;
    }

    static Api start() throws Exception {
        return on(Cli.freshDatabase());
    }

    static Api on(String database) throws Exception {
        return on(Address.of(
                Cli.postgres().jdbcUrl(database),
                Cli.postgres().user(),
                Cli.postgres().password(),
                "trunkline"));
    }

    static Api on(Address address) throws Exception {
        Service service = Service.start(Optional.of(address), Path.of("."), "127.0.0.1", 0, MOST_BYTES, true);
        return new Api(service, service.firstKey().orElse(null));
    }

    /** The same, as another caller; null: as nobody. */
    Api as(@Nullable String otherKey) {
        return new Api(service, otherKey);
    }

    Optional<String> firstKey() {
        return service.firstKey();
    }

    String url() {
        return service.url();
    }

    List<Route> routes() {
        return service.routes();
    }

    /** An answer, with its body as JSON if it is that. */
    record Answer(int status, String type, String text, HttpResponse<String> response) {

        JsonNode json() {
            return JSON.readTree(text);
        }

        String at(String pointer) {
            return json().at(pointer).asString();
        }

        @Override
        public String toString() {
            return status + " " + text;
        }
    }

    Answer get(String path) throws Exception {
        return send("GET", path, BodyPublishers.noBody(), null);
    }

    Answer delete(String path) throws Exception {
        return send("DELETE", path, BodyPublishers.noBody(), null);
    }

    Answer post(String path, String body) throws Exception {
        return send("POST", path, BodyPublishers.ofString(body), "application/json");
    }

    Answer put(String path, String body) throws Exception {
        return send("PUT", path, BodyPublishers.ofString(body), "application/json");
    }

    Answer patch(String path, String body) throws Exception {
        return send("PATCH", path, BodyPublishers.ofString(body), "application/json");
    }

    Answer send(String method, String path, BodyPublisher body, @Nullable String type, String... headers)
            throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(service.url() + path)).method(method, body);
        if (type != null) {
            request.header("Content-Type", type);
        }
        if (key != null) {
            request.header("Authorization", "Bearer " + key);
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        HttpResponse<String> response = client.send(request.build(), BodyHandlers.ofString());
        return new Answer(
                response.statusCode(),
                response.headers().firstValue("Content-Type").orElse(""),
                response.body(),
                response);
    }

    static String encode(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    @Override
    public void close() {
        service.close();
    }
}
