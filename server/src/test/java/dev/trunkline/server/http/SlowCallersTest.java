package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.server.Cli;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callers who take much: connections, time, memory. */
@Timeout(120)
class SlowCallersTest {

    @Test
    void a_caller_may_have_so_many_requests_open_and_another_has_his_own() throws Exception {
        ServerOptions few = Api.options(Api.address(Cli.freshDatabase())).withOpenRequests(2);
        try (Api api = Api.start(few)) {
            api.post("/v1/topics", "{\"name\": \"t\", \"partitions\": 1}");
            Api other = api.as(api.post("/v1/keys", "{\"name\": \"other\", \"verbs\": [\"READ\"]}")
                    .at("/key"));
            List<InputStream> streams = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                streams.add(api.events("/v1/topics/t/tail"));
            }
            Api.Answer refused = api.get("/v1/topics");
            assertThat(refused.status()).as(refused.toString()).isEqualTo(429);
            assertThat(refused.response().headers().firstValue("Retry-After")).isPresent();
            assertThat(other.get("/v1/topics").status()).isEqualTo(200);
            for (InputStream stream : streams) {
                stream.close();
            }
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .until(() -> api.get("/v1/topics").status() == 200);
        }
    }

    @Test
    void what_is_over_makes_room_for_the_next() {
        OpenRequests open = new OpenRequests(1);
        open.begin("a");
        assertThatThrownBy(() -> open.begin("a")).hasMessageContaining("1 requests open");
        open.begin("b");
        open.end("a");
        open.begin("a");
    }

    @Test
    void memory_is_taken_by_share_and_given_back() {
        Room room = new Room(10 << 20, Duration.ofMillis(1));
        try (Room.Share one = room.new Share();
                Room.Share other = room.new Share()) {
            one.take(8 << 20);
            assertThatThrownBy(() -> other.take(4 << 20)).isInstanceOf(Problem.class);
            one.take(6 << 20);
            other.take(4 << 20);
            one.take(Room.SMALL - 1);
            other.take(10 << 20);
            assertThatThrownBy(() -> one.take(1 << 20)).isInstanceOf(Problem.class);
        }
        try (Room.Share all = room.new Share()) {
            all.take(Long.MAX_VALUE / 2);
        }
    }

    /** Whatever its handler does. */
    private static Server server(Handler handler, AtomicLong now) throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.addBean(new Dawdlers(connector, Duration.ofSeconds(30), now::get));
        server.setHandler(handler);
        server.start();
        return server;
    }

    private static int port(Server server) {
        return ((ServerConnector) server.getConnectors()[0]).getLocalPort();
    }

    private static Handler answering() {
        return new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                response.setStatus(204);
                callback.succeeded();
                return true;
            }
        };
    }

    private static void say(Socket line, String text) throws IOException {
        line.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void who_does_not_come_to_the_end_of_his_headers_is_hung_up_on_and_who_says_nothing_is_not() throws Exception {
        AtomicLong now = new AtomicLong();
        Server server = server(answering(), now);
        try (Socket first = new Socket(InetAddress.getLoopbackAddress(), port(server));
                Socket later = new Socket(InetAddress.getLoopbackAddress(), port(server));
                Socket idle = new Socket(InetAddress.getLoopbackAddress(), port(server))) {
            String request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
            say(first, "GET / HTTP/1.1\r\nHo");
            for (Socket good : List.of(later, idle)) {
                say(good, request);
                assertThat(good.getInputStream().read()).isEqualTo('H');
            }
            later.setSoTimeout(1);
            // It is looked once a second, so a second request is begun only when the first was seen.
            Awaitility.await().pollInterval(Duration.ofSeconds(2)).untilAsserted(() -> {
                say(later, "G");
                now.addAndGet(TimeUnit.SECONDS.toNanos(31));
                assertThat(isHungUp(first)).isTrue();
                assertThat(isHungUp(later)).isTrue();
            });
            say(idle, request);
            idle.getInputStream().skipNBytes(20);
            assertThat(isHungUp(idle)).isFalse();
        } finally {
            server.stop();
        }
    }

    private static boolean isHungUp(Socket line) throws IOException {
        line.setSoTimeout(200);
        try {
            int next;
            do {
                next = line.getInputStream().read();
            } while (next >= 0);
            return true;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (java.net.SocketException e) {
            return true;
        }
    }

    @Test
    void who_does_not_read_his_answer_is_hung_up_on() throws Exception {
        CompletableFuture<Exception> trouble = new CompletableFuture<>();
        Server server = server(
                new Handler.Abstract() {
                    @Override
                    public boolean handle(Request request, Response response, Callback callback) {
                        Outlet out = new Outlet(request, response, Duration.ofSeconds(1));
                        try {
                            for (int i = 0; i < 1_000; i++) {
                                out.write(new byte[Outlet.PIECE]);
                            }
                            out.close();
                            callback.succeeded();
                        } catch (IOException e) {
                            trouble.complete(e);
                            callback.failed(e);
                        }
                        return true;
                    }
                },
                new AtomicLong());
        try (Socket line = new Socket(InetAddress.getLoopbackAddress(), port(server))) {
            say(line, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertThat(trouble.get()).hasMessageContaining("has not read");
        } finally {
            server.stop();
        }
    }
}
