package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.rig.ChildJvm;
import dev.trunkline.server.Cli;
import dev.trunkline.server.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** A thousand callers that wait, of a server with a small heap. */
@Timeout(300)
class ManyClientsTest {

    private static final int EACH = 500;
    private static final long MOST_KILOBYTES = 300 * 1024;
    private static final String GOOD = "HTTP/1.1 200";
    private static final String LISTENS = " listens at ";

    private String key = "";
    /** Whose pull was answered with messages, and not because the wait was over. */
    private final Set<Socket> told = new HashSet<>();

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "how much memory a process has is read from /proc")
    void a_thousand_that_wait_fit_into_little_memory_and_are_told_at_once() throws Exception {
        String database = Cli.freshDatabase();
        List<Socket> waiting = new ArrayList<>();
        try (ChildJvm server = ChildJvm.start(
                Main.class,
                "serve",
                "--port",
                "0",
                "--url",
                Cli.postgres().jdbcUrl(database),
                "--user",
                Cli.postgres().user(),
                "--password",
                Cli.postgres().password())) {
            server.readLine();
            key = Objects.requireNonNull(server.readLine()).strip();
            String line = Objects.requireNonNull(server.readLine());
            URI url = URI.create(line.substring(line.indexOf(LISTENS) + LISTENS.length()));
            ask(url, "POST", "/v1/topics", "{\"name\": \"t\", \"semantics\": \"PUB_SUB\", \"partitions\": 1}")
                    .close();
            ask(url, "PUT", "/v1/topics/t/groups/g", "{\"start\": \"beginning\"}")
                    .close();
            for (int i = 0; i < EACH; i++) {
                waiting.add(ask(url, "GET", "/v1/topics/t/tail", ""));
                waiting.add(ask(url, "POST", "/v1/topics/t/groups/g/pull", "{\"wait\": \"PT60S\"}"));
            }
            // The streams say when they have begun.
            for (int i = 0; i < waiting.size(); i += 2) {
                await(waiting.get(i), ":");
            }
            long kilobytes = Files.readAllLines(Path.of("/proc/" + server.pid() + "/status")).stream()
                    .filter(its -> its.startsWith("VmRSS:"))
                    .mapToLong(its -> Long.parseLong(its.replaceAll("\\D", "")))
                    .sum();
            assertThat(kilobytes).isBetween(1L, MOST_KILOBYTES);
            assertThat(toldPulls(waiting)).isZero();
            ask(url, "POST", "/v1/topics/t/messages", "{\"text\": \"told\"}").close();
            for (int i = 0; i < waiting.size(); i += 2) {
                await(waiting.get(i), "told");
            }
            Awaitility.await().until(() -> toldPulls(waiting) > 0);
            assertThat(toldPulls(waiting)).isOne();
        } finally {
            for (Socket each : waiting) {
                each.close();
            }
        }
    }

    private long toldPulls(List<Socket> waiting) throws IOException {
        for (int i = 1; i < waiting.size(); i += 2) {
            InputStream in = waiting.get(i).getInputStream();
            if (in.available() >= GOOD.length()
                    && new String(in.readNBytes(GOOD.length()), StandardCharsets.UTF_8).equals(GOOD)) {
                told.add(waiting.get(i));
            }
        }
        return told.size();
    }

    /** Sends a request, and does not wait for its answer. */
    private Socket ask(URI url, String method, String path, String body) throws IOException {
        Socket socket = new Socket(url.getHost(), url.getPort());
        String request = method + " " + path
                + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key
                + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body;
        socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
        if (!path.endsWith("/tail") && !path.endsWith("/pull")) {
            await(socket, "HTTP/1.1 20");
        }
        return socket;
    }

    private static void await(Socket socket, String text) throws IOException {
        BufferedReader reader =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8), 64);
        String line;
        do {
            line = reader.readLine();
        } while (line != null && !line.contains(text));
        assertThat(line).contains(text);
    }
}
