package dev.trunkline.server.http;

import dev.trunkline.InvalidMessageException;
import dev.trunkline.Log;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.OffsetOutOfRangeException;
import dev.trunkline.PayloadTooLargeException;
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
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;

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

    private static final String LAST_EVENT_ID = "Last-Event-ID";
    private static final String IDEMPOTENCY_KEY = "Idempotency-Key";
    private static final Parameter IDEMPOTENCY =
            Parameter.text(IDEMPOTENCY_KEY, "a request that is repeated with the same one is one");
    private static final Parameter LAST_EVENT =
            Parameter.text(LAST_EVENT_ID, "the id of the last event that came: from where the last stream had come");
    /** Between the key of a request and the number of a message: no header has it, so no other request has the same. */
    private static final char OF = '\n';

    /** So many lines are published together, and so many bytes of them are kept at most. */
    private static final int LINES_AT_ONCE = 500;

    private static final long BYTES_AT_ONCE = 1L << 20;
    /** Of several that follow each other. */
    private static final ObjectReader LINE =
            Json.MAPPER.readerFor(Messages.NewMessage.class).without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
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
                                "publishes a message, several that go together, or any number line by line",
                                this::publish)
                        .header(IDEMPOTENCY, TraceContext.HEADER)
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
                        .header(LAST_EVENT)
                        .answers(Route.OK, Events.TYPE, Messages.ReadMessage.class));
    }

    /**
     * What was published.
     *
     * @param published how many
     * @param duplicates how many of these were there before, by their idempotency keys
     * @param messages where they are; null if they came line by line
     */
    record Accepted(
            long published, long duplicates, @Nullable List<Messages.Published> messages) {}

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
        Optional<String> idempotency = idempotencyKey(exchange);
        TraceContext trace = TraceContext.of(exchange);
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < wishes.size(); i++) {
            messages.add(
                    trace.onto(message(wishes.get(i), topic, i, wishes.size() == 1 ? "" : "" + OF + i, idempotency)));
        }
        List<Receipt> receipts = publish(messages, 0, wishes);
        exchange.answer(
                Route.CREATED,
                new Accepted(
                        receipts.size(),
                        duplicates(receipts),
                        receipts.stream().map(Messages.Published::of).toList()));
    }

    private static Optional<String> idempotencyKey(Exchange exchange) {
        return exchange.single(IDEMPOTENCY_KEY).map(key -> {
            Problem.require(!key.isBlank(), IDEMPOTENCY_KEY, "it is empty: leave it out, or use another");
            return key;
        });
    }

    private static long duplicates(List<Receipt> receipts) {
        return receipts.stream().filter(Receipt::duplicate).count();
    }

    /**
     * Publishes messages.
     *
     * @param first the number of the first
     * @param wishes what they were made of
     */
    private List<Receipt> publish(List<Message> messages, long first, List<Messages.@Nullable NewMessage> wishes) {
        try {
            return publisher.publishAll(messages);
        } catch (PayloadTooLargeException e) {
            int largest = 0;
            for (int i = 1; i < messages.size(); i++) {
                largest = bytes(messages.get(i)) > bytes(messages.get(largest)) ? i : largest;
            }
            Messages.NewMessage wish = wishes.get(largest);
            throw Problem.tooLarge(e, wish == null ? "payload" : wish.field()).with("message", first + largest);
        } catch (InvalidMessageException e) {
            // All else was looked at when it was read; only the topic knows its levels.
            Problem problem = Problem.badRequest(String.valueOf(e.getMessage()));
            for (int i = 0; i < messages.size(); i++) {
                if (messages.get(i).priority() != Priority.NORMAL) {
                    throw problem.with("field", "priority").with("message", first + i);
                }
            }
            throw problem;
        }
    }

    private static int bytes(Message message) {
        return message.payload() instanceof byte[] bytes ? bytes.length : 0;
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
                    ? message.withIdempotencyKey(Messages.idempotencyKey(IDEMPOTENCY_KEY, idempotency.get() + suffix))
                    : message;
        } catch (Problem e) {
            throw e.with("message", index);
        }
    }

    /** Nothing of it is kept longer than until it is published, so it may be endless. */
    private void publishLines(Exchange exchange) throws Exception {
        Lines waiting = new Lines(exchange);
        long line = 0;
        try (LineLimit in = new LineLimit(
                        exchange.endlessBody(waiting::publish, stopping),
                        exchange.mostBytes(),
                        Exchange.LONGEST,
                        bytes -> exchange.share().take(Room.HEARD * bytes));
                JsonParser lines = Json.MAPPER.createParser((InputStream) new Utf8(in))) {
            for (JsonToken next = lines.nextToken(); next != null; next = lines.nextToken()) {
                if (next != JsonToken.START_OBJECT) {
                    throw Problem.badRequest("a line is a JSON object, a message")
                            .with("message", line);
                }
                waiting.add(LINE.readValue(lines), line, in.count());
                line++;
                in.begin();
            }
            waiting.publish();
        } catch (JacksonException e) {
            throw Json.problem(e).with("message", line).with("published", waiting.published);
        } catch (RuntimeException e) {
            throw Problem.of(e)
                    .map(problem -> (RuntimeException) problem.with("published", waiting.published))
                    .orElse(e);
        }
        exchange.answer(Route.CREATED, new Accepted(waiting.published, waiting.duplicates, null));
    }

    /** Lines that have come and are not published yet. They are published when there are enough, or no more is there. */
    private final class Lines {
        private final Exchange exchange;
        private final String topic;
        private final Optional<String> idempotency;
        private final TraceContext trace;
        private final List<Message> waiting = new ArrayList<>();
        private final List<Messages.@Nullable NewMessage> wishes = new ArrayList<>();
        private long bytesBefore;
        private long bytesSoFar;
        private long published;
        private long duplicates;

        private Lines(Exchange exchange) {
            this.exchange = exchange;
            this.topic = exchange.path("topic");
            this.idempotency = idempotencyKey(exchange);
            this.trace = TraceContext.of(exchange);
        }

        /** @param bytes that have come up to its end */
        void add(Messages.NewMessage wish, long line, long bytes) {
            bytesSoFar = bytes;
            waiting.add(trace.onto(message(wish, topic, line, "" + OF + line, idempotency)));
            wishes.add(wish);
            exchange.share().take(Room.HEARD * (bytes - bytesBefore));
            if (waiting.size() >= LINES_AT_ONCE || bytes - bytesBefore >= BYTES_AT_ONCE) {
                publish();
            }
        }

        void publish() {
            if (waiting.isEmpty()) {
                return;
            }
            exchange.requireStillAllowed();
            if (stopping.getAsBoolean()) {
                throw HttpServer.stops();
            }
            List<Receipt> receipts = MessageRoutes.this.publish(waiting, published, wishes);
            published += receipts.size();
            duplicates += duplicates(receipts);
            waiting.clear();
            wishes.clear();
            bytesBefore = bytesSoFar;
            exchange.share().take(0);
        }
    }

    private void read(Exchange exchange) throws Exception {
        String topic = exchange.path("topic");
        int partition = (int) exchange.number(PARTITION);
        Priority priority = exchange.text(PRIORITY).map(Priority::valueOf).orElse(Priority.NORMAL);
        long from;
        List<LogMessage> found;
        try {
            from = exchange.text(FROM).isPresent() ? exchange.number(FROM) : log.first(topic, partition, priority);
            Problem.require(from <= Long.MAX_VALUE - Page.LIMIT.most(), "from", "no offset is as great as " + from);
            exchange.share().take(Room.PAGE);
            found = log.read(topic, partition, priority, from, (int) exchange.number(Page.LIMIT));
        } catch (InvalidMessageException e) {
            throw Problem.of(priority == Priority.NORMAL ? "partition" : "priority", String.valueOf(e.getMessage()));
        } catch (OffsetOutOfRangeException e) {
            throw new Problem(416, String.valueOf(e.getMessage())).with("field", "from");
        }
        exchange.share().take(Room.TOLD * bytes(found));
        exchange.answer(
                Route.OK,
                new Excerpt(found.stream().map(Messages.ReadMessage::of).toList(), from + found.size()));
    }

    private static long bytes(List<LogMessage> messages) {
        return messages.stream().mapToLong(its -> its.payload().length).sum();
    }

    /** Who comes back says where he was, and gets what came since; the last few again, if he was cut off in the midst of them. */
    private void tail(Exchange exchange) throws Exception {
        String topic = exchange.path("topic");
        boolean fromNow = exchange.text(BEGINNING).orElse("now").equals("now");
        Optional<String> position = exchange.header(LAST_EVENT_ID).filter(its -> !its.isEmpty());
        Log.Tail tail;
        try {
            tail = position.isPresent()
                    ? log.resume(topic, position.get())
                    : fromNow ? log.tail(topic) : log.fromBeginning(topic);
        } catch (IllegalArgumentException e) {
            throw Problem.of(LAST_EVENT_ID, String.valueOf(e.getMessage()));
        }
        try (Events events = new Events(exchange, tail.position())) {
            long quiet = 0;
            // After much there may be as much again. Who waits for what is yet to be published gets little at a time.
            boolean behind = position.isPresent() || !fromNow;
            while (!stopping.getAsBoolean()) {
                exchange.share().take(behind ? Room.PAGE : 0);
                List<LogMessage> messages = tail.poll(STEP);
                long bytes = bytes(messages);
                behind = bytes >= BYTES_AT_ONCE;
                exchange.share().take(behind ? Room.TOLD * bytes : 0);
                if (!exchange.isStillAllowed()) {
                    return;
                }
                for (int i = 0; i < messages.size(); i++) {
                    events.tell(
                            "message",
                            i < messages.size() - 1 ? null : tail.position(),
                            Messages.ReadMessage.of(messages.get(i)));
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
