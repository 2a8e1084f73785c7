package dev.trunkline.server.http;

import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Priority;
import dev.trunkline.Publisher;
import dev.trunkline.Receipt;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.MappingIterator;

/** Messages: publishing them in three ways, reading the log, following it. */
final class MessageRoutes {

    private static final int MOST_READ = 1_000;
    /** So many lines are published together, and so many bytes of them are kept at most. */
    private static final int LINES_AT_ONCE = 500;

    private static final long BYTES_AT_ONCE = 1L << 20;
    private static final Duration HEARTBEAT = Duration.ofSeconds(15);

    private final Publisher publisher;
    private final Log log;
    private final int mostAtOnce;
    private final BooleanSupplier stopping;

    /**
     * Routes of an installation.
     *
     * @param mostAtOnce messages of one request that is not a stream
     * @param stopping whether streams are to end
     */
    MessageRoutes(Publisher publisher, Log log, int mostAtOnce, BooleanSupplier stopping) {
        this.publisher = publisher;
        this.log = log;
        this.mostAtOnce = mostAtOnce;
        this.stopping = stopping;
    }

    List<Route> all() {
        return List.of(
                Route.of("POST", "/v1/topics/{topic}/messages", Verb.PUBLISH, this::publish),
                Route.of("GET", "/v1/topics/{topic}/messages", Verb.READ, this::read),
                Route.of("GET", "/v1/topics/{topic}/tail", Verb.READ, this::tail));
    }

    /** One, as a JSON object; several that go together, as an array; any number, line by line. */
    private void publish(Exchange exchange) throws Exception {
        exchange.allowQuery();
        if (exchange.contentType().equals(Exchange.LINES)) {
            publishLines(exchange);
            return;
        }
        List<Messages.@Nullable Wish> wishes = exchange.bodies(Messages.Wish.class);
        if (wishes.isEmpty()) {
            throw Problem.badRequest("there is no message");
        }
        if (wishes.size() > mostAtOnce) {
            throw Problem.badRequest("more than " + mostAtOnce + " messages at once: send several requests, or lines");
        }
        String topic = exchange.path("topic");
        Optional<String> idempotency = exchange.header("Idempotency-Key");
        TraceContext trace = TraceContext.of(exchange);
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < wishes.size(); i++) {
            messages.add(trace.onto(message(wishes.get(i), topic, i, wishes.size() == 1 ? "" : ":" + i, idempotency)));
        }
        List<Receipt> receipts = publisher.publishAll(messages);
        exchange.answer(
                201,
                Map.of("messages", receipts.stream().map(Messages.Published::of).toList()));
    }

    /** @param suffix makes the request's idempotency key one of this message */
    private static Message message(
            Messages.@Nullable Wish wish, String topic, long index, String suffix, Optional<String> idempotency) {
        try {
            if (wish == null) {
                throw Problem.of("payload", "a message is null");
            }
            Message message = wish.of(topic);
            return idempotency.isPresent() && wish.idempotencyKey() == null
                    ? message.withIdempotencyKey(idempotency.get() + suffix)
                    : message;
        } catch (Problem e) {
            throw e.with("message", index);
        }
    }

    /** Nothing of it is kept longer than until it is published, so it may be endless. */
    private void publishLines(Exchange exchange) throws Exception {
        String topic = exchange.path("topic");
        Optional<String> idempotency = exchange.header("Idempotency-Key");
        long published = 0;
        long line = 0;
        TraceContext trace = TraceContext.of(exchange);
        List<Message> waiting = new ArrayList<>();
        try (LineLimit in = new LineLimit(exchange.endlessBody(), BYTES_AT_ONCE);
                MappingIterator<Messages.Wish> lines =
                        Json.MAPPER.readerFor(Messages.Wish.class).readValues((InputStream) in)) {
            long bytesBefore = 0;
            while (lines.hasNextValue()) {
                waiting.add(trace.onto(message(lines.nextValue(), topic, line, ":" + line, idempotency)));
                line++;
                in.begin();
                if (waiting.size() >= LINES_AT_ONCE || in.count() - bytesBefore >= BYTES_AT_ONCE) {
                    published += publisher.publishAll(waiting).size();
                    waiting.clear();
                    bytesBefore = in.count();
                }
            }
            if (!waiting.isEmpty()) {
                published += publisher.publishAll(waiting).size();
            }
        } catch (JacksonException e) {
            throw (e.getCause() instanceof Problem problem ? problem : Json.problem(e))
                    .with("message", line)
                    .with("published", published);
        } catch (IOException e) {
            throw Problem.badRequest("the body did not come to its end").with("published", published);
        } catch (RuntimeException e) {
            long before = published;
            throw Problem.of(e)
                    .map(problem -> (RuntimeException) problem.with("published", before))
                    .orElse(e);
        }
        exchange.answer(201, Map.of("published", published));
    }

    private void read(Exchange exchange) throws Exception {
        exchange.allowQuery("partition", "priority", "from", "limit");
        String topic = exchange.path("topic");
        int partition = (int) exchange.query("partition", 0, 0, Integer.MAX_VALUE);
        Priority priority = priority(exchange.query("priority").orElse("NORMAL"));
        int limit = (int) exchange.query("limit", 100, 1, MOST_READ);
        long from = exchange.query("from").isPresent()
                ? exchange.query("from", 0, 0, Long.MAX_VALUE)
                : log.first(topic, partition, priority);
        List<LogMessage> found = log.read(topic, partition, priority, from, limit);
        exchange.answer(
                200, Map.of("messages", found.stream().map(Messages.Told::of).toList(), "next", from + found.size()));
    }

    private static Priority priority(String text) {
        try {
            return Priority.valueOf(text.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw Problem.of("priority", "\"" + text + "\" is none of " + List.of(Priority.values()));
        }
    }

    /** Server-sent events: one for each message, and now and then a sign of life. */
    private void tail(Exchange exchange) throws Exception {
        exchange.allowQuery("from");
        String topic = exchange.path("topic");
        Log.Tail tail = switch (exchange.query("from").orElse("now")) {
            case "now" -> log.tail(topic);
            case "beginning" -> log.fromBeginning(topic);
            default -> throw Problem.of("from", "\"from\" is now or beginning");
        };
        try (OutputStream out = exchange.stream("text/event-stream")) {
            out.write(": listening\n\n".getBytes(StandardCharsets.UTF_8));
            out.flush();
            long quietSince = System.nanoTime();
            while (!stopping.getAsBoolean()) {
                List<LogMessage> messages = tail.poll(Duration.ofSeconds(1));
                for (LogMessage message : messages) {
                    out.write(("id: " + message.partition() + "@" + message.offset() + "\ndata: ")
                            .getBytes(StandardCharsets.UTF_8));
                    out.write(Json.MAPPER.writeValueAsBytes(Messages.Told.of(message)));
                    out.write("\n\n".getBytes(StandardCharsets.UTF_8));
                }
                if (messages.isEmpty() && System.nanoTime() - quietSince > HEARTBEAT.toNanos()) {
                    out.write(":\n\n".getBytes(StandardCharsets.UTF_8));
                    quietSince = System.nanoTime();
                    out.flush();
                }
                if (!messages.isEmpty()) {
                    quietSince = System.nanoTime();
                    out.flush();
                }
            }
        }
    }
}
