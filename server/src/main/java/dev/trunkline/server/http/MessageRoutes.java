package dev.trunkline.server.http;

import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Priority;
import dev.trunkline.Publisher;
import dev.trunkline.Receipt;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.MappingIterator;

/** Messages: publishing them in three ways, reading the log, following it. */
final class MessageRoutes {

    private static final String MESSAGES = "/v1/topics/{topic}/messages";
    private static final Parameter PARTITION = Parameter.number("partition", "which one", 0, 0, Integer.MAX_VALUE);
    private static final Parameter PRIORITY = Parameter.word(
            "priority",
            "which level, of a topic with levels: NORMAL, if nothing is said",
            Stream.of(Priority.values()).map(Priority::name).toList());
    private static final Parameter FROM = Parameter.number(
            "from", "the first offset; the first that is kept, if nothing is said", 0, 0, Long.MAX_VALUE);
    private static final Parameter BEGINNING =
            Parameter.word("from", "where to begin: now, if nothing is said", List.of("now", "beginning"));

    /** So many lines are published together, and so many bytes of them are kept at most. */
    private static final int LINES_AT_ONCE = 500;

    private static final long BYTES_AT_ONCE = 1L << 20;
    /** How soon a stream notices that it is to end. */
    private static final Duration STEP = Duration.ofSeconds(1);

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
                Route.of(
                                "POST",
                                MESSAGES,
                                Verb.PUBLISH,
                                "publishes a message, several that go together, or any number line by line; header Idempotency-Key: a repeated request is one",
                                this::publish)
                        .takes(OneOrMore.of(Messages.NewMessage.class))
                        .takes(Exchange.LINES, Messages.NewMessage.class)
                        .answers(Route.CREATED, Accepted.class),
                Route.of("GET", MESSAGES, Verb.READ, "reads the log of a partition", this::read)
                        .query(PARTITION, PRIORITY, FROM, Page.LIMIT)
                        .answers(Route.OK, Excerpt.class),
                Route.of(
                                "GET",
                                "/v1/topics/{topic}/tail",
                                Verb.READ,
                                "follows a topic: an event for each message",
                                this::tail)
                        .query(BEGINNING)
                        .answers(Route.OK, Events.TYPE, Messages.ReadMessage.class));
    }

    /**
     * What was published.
     *
     * @param published how many
     * @param messages where they are; null if they came line by line
     */
    record Accepted(long published, @Nullable List<Messages.Published> messages) {}

    /**
     * A part of the log.
     *
     * @param next the offset after it
     */
    record Excerpt(List<Messages.ReadMessage> messages, long next) {}

    /** One, as a JSON object; several that go together, as an array; any number, line by line. */
    private void publish(Exchange exchange) throws Exception {
        if (exchange.contentType().equals(Exchange.LINES)) {
            publishLines(exchange);
            return;
        }
        List<Messages.@Nullable NewMessage> wishes = exchange.bodies(Messages.NewMessage.class);
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
                Route.CREATED,
                new Accepted(
                        receipts.size(),
                        receipts.stream().map(Messages.Published::of).toList()));
    }

    /** @param suffix makes the request's idempotency key one of this message */
    private static Message message(
            Messages.@Nullable NewMessage wish, String topic, long index, String suffix, Optional<String> idempotency) {
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
                MappingIterator<Messages.NewMessage> lines =
                        Json.MAPPER.readerFor(Messages.NewMessage.class).readValues((InputStream) in)) {
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
            throw Json.problem(e).with("message", line).with("published", published);
        } catch (RuntimeException e) {
            long before = published;
            throw Problem.of(e)
                    .map(problem -> (RuntimeException) problem.with("published", before))
                    .orElse(e);
        }
        exchange.answer(Route.CREATED, new Accepted(published, null));
    }

    private void read(Exchange exchange) throws Exception {
        String topic = exchange.path("topic");
        int partition = (int) exchange.number(PARTITION);
        Priority priority = exchange.text(PRIORITY).map(Priority::valueOf).orElse(Priority.NORMAL);
        long from = exchange.text(FROM).isPresent() ? exchange.number(FROM) : log.first(topic, partition, priority);
        List<LogMessage> found = log.read(topic, partition, priority, from, (int) exchange.number(Page.LIMIT));
        exchange.answer(
                Route.OK,
                new Excerpt(found.stream().map(Messages.ReadMessage::of).toList(), from + found.size()));
    }

    private void tail(Exchange exchange) throws Exception {
        String topic = exchange.path("topic");
        Log.Tail tail =
                exchange.text(BEGINNING).orElse("now").equals("now") ? log.tail(topic) : log.fromBeginning(topic);
        try (Events events = new Events(exchange)) {
            long quiet = 0;
            while (!stopping.getAsBoolean()) {
                List<LogMessage> messages = tail.poll(STEP);
                for (LogMessage message : messages) {
                    events.tell(
                            "message", message.partition() + "@" + message.offset(), Messages.ReadMessage.of(message));
                }
                quiet = messages.isEmpty() ? quiet + STEP.toMillis() : 0;
                if (!messages.isEmpty()) {
                    events.flush();
                } else if (quiet >= Events.QUIET.toMillis()) {
                    events.alive();
                    quiet = 0;
                }
            }
        }
    }
}
