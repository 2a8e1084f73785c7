package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.Address;
import dev.trunkline.server.Cli;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
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
        return on(address(database));
    }

    static Api on(Address address) throws Exception {
        return start(options(address));
    }

    static Address address(String database) {
        return Address.of(
                Cli.postgres().jdbcUrl(database),
                Cli.postgres().user(),
                Cli.postgres().password(),
                "trunkline");
    }

    /** How a server over a database of its own is, unless something else is said. */
    static ServerOptions options(Address address) {
        return ServerOptions.local(address, MOST_BYTES);
    }

    static Api start(ServerOptions options) throws Exception {
        Service service = Service.start(options);
        return new Api(service, service.firstKey().orElse(null));
    }

    /** The same, as another caller; null: as nobody. */
    Api as(@Nullable String otherKey) {
        return new Api(service, otherKey);
    }

    @Nullable
    String key() {
        return key;
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
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(service.url() + path))
                .timeout(Duration.ofSeconds(90))
                .method(method, body);
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
        Answer answer = new Answer(
                response.statusCode(),
                response.headers().firstValue("Content-Type").orElse(""),
                response.body(),
                response);
        requireAsTold(method, path, answer);
        return answer;
    }

    /** Every answer that a test gets is as the OpenAPI document says. */
    private void requireAsTold(String method, String path, Answer answer) {
        Route route;
        try {
            route = new Router(service.routes())
                    .find(method, URI.create(service.url() + path).getRawPath())
                    .route();
        } catch (Problem unknown) {
            return;
        }
        if (!route.template().equals("/openapi.json") && !method.equals("HEAD")) {
            Contract contract = new Contract(JSON.valueToTree(OpenApi.of(service.routes())));
            assertThat(contract.flaws(route, answer)).as(answer.toString()).isEmpty();
        }
    }

    /** Reads what is sent as events, until enough was read. */
    InputStream events(String path, String... headers) throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(service.url() + path)).header("Authorization", "Bearer " + key);
        if (headers.length > 0) {
            request.headers(headers);
        }
        HttpResponse<InputStream> response = client.send(request.build(), BodyHandlers.ofInputStream());
        assertThat(response.headers().firstValue("Content-Type")).hasValue("text/event-stream");
        return response.body();
    }

    static String encode(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    @Override
    public void close() {
        service.close();
    }
}
