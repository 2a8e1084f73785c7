package dev.trunkline.benchmarks;

import dev.trunkline.server.Address;
import dev.trunkline.server.http.ServerOptions;
import dev.trunkline.server.http.Service;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

/** An installation behind HTTP, in this process, and callers of it. */
final class Web implements AutoCloseable {

    private static final long MOST_BYTES = 16L << 20;

    private final Service service;
    private final String key;
    private final HttpClient client = HttpClient.newHttpClient();

    Web(Workbench bench, Installation installation) throws Exception {
        Address address = new Address(
                bench.address().url(), bench.address().user(), bench.address().password(), installation.schema());
        this.service = Service.start(ServerOptions.local(address, MOST_BYTES));
        this.key = service.firstKey().orElseThrow();
    }

    /** The body of an answer; empty if it has none. */
    byte[] send(String method, String path, String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(service.url() + path))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(body))
                .build();
        HttpResponse<byte[]> answer = client.send(request, BodyHandlers.ofByteArray());
        if (answer.statusCode() >= 300) {
            throw new IOException(method + " " + path + " gives " + answer.statusCode());
        }
        return answer.body();
    }

    @Override
    public void close() {
        client.close();
        service.close();
    }
}
