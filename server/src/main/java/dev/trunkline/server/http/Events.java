package dev.trunkline.server.http;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An answer of server-sent events, and a sign of life where there are none for a while. */
final class Events implements AutoCloseable {

    static final String TYPE = "text/event-stream";
    /** How long to wait for something to tell. */
    static final Duration QUIET = Duration.ofSeconds(15);

    private final OutputStream out;

    Events(Exchange exchange) throws IOException {
        this.out = exchange.stream(TYPE);
        alive();
    }

    /** @param id what who is cut off before anything is told comes back with */
    Events(Exchange exchange, String id) throws IOException {
        this.out = exchange.stream(TYPE);
        write("id: " + id + "\n");
        alive();
    }

    /**
     * Tells something; it is sent at the next {@link #flush}.
     *
     * @param id null: as before
     */
    void tell(String event, @Nullable String id, Object data) throws IOException {
        write("event: " + event + (id == null ? "" : "\nid: " + id) + "\ndata: ");
        out.write(Json.MAPPER.writeValueAsBytes(data));
        write("\n\n");
    }

    void flush() throws IOException {
        out.flush();
    }

    /** Shows who listens that it is still there; and shows us, if he is not. */
    void alive() throws IOException {
        write(":\n\n");
        flush();
    }

    private void write(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
