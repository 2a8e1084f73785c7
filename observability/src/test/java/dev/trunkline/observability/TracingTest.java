package dev.trunkline.observability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.ConsumerGroup;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.RetryPolicy;
import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.UnknownTopicException;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A trace goes on from who publishes to who handles, through the log. */
@Timeout(180)
class TracingTest {

    @RegisterExtension
    static final OpenTelemetryExtension TELEMETRY = OpenTelemetryExtension.create();

    private final Place place = Place.fresh();
    private final TrunklineTracing tracing = new TrunklineTracing(TELEMETRY.getOpenTelemetry());
    private final List<String> inHandlers = new CopyOnWriteArrayList<>();
    private Trunkline trunkline;

    @BeforeEach
    void open() {
        trunkline = place.options().observer(tracing).open();
        trunkline.topics().create(TopicConfiguration.pubSub("orders").withPartitions(2));
    }

    @AfterEach
    void close() {
        trunkline.close();
    }

    /** Fails for what is to fail, once. */
    private ConsumerGroup<String> group() {
        return trunkline
                .createConsumerGroup("billing", "orders", String.class)
                .addConsumer("a", delivery -> {
                    inHandlers.add(Span.current().getSpanContext().getTraceId());
                    if (delivery.payload().startsWith("fails") && delivery.attempt() == 1) {
                        throw new IllegalStateException("secret payload");
                    }
                })
                .start(SubscriptionOptions.fromBeginning()
                        .withRetry(new RetryPolicy(3, Duration.ofMillis(1), Duration.ofMillis(1))));
    }

    /** Does something inside a span, as a caller would. Returns that span. */
    private static SpanData inside(Callable<?> call) throws Exception {
        Span caller = TELEMETRY
                .getOpenTelemetry()
                .getTracer("test")
                .spanBuilder("caller")
                .startSpan();
        try (Scope scope = caller.makeCurrent()) {
            assertThat(scope).isNotNull();
            call.call();
        } finally {
            caller.end();
        }
        return await("caller", 1).getFirst();
    }

    private static List<SpanData> await(String name, int count) {
        return Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .until(
                        () -> TELEMETRY.getSpans().stream()
                                .filter(span -> span.getName().equals(name))
                                .toList(),
                        found -> found.size() == count);
    }

    private void goesOn(SpanData caller, int attempts) {
        SpanData sent = await("send orders", 1).getFirst();
        List<SpanData> handled = await("process orders", attempts);
        assertThat(sent.getKind()).isEqualTo(SpanKind.PRODUCER);
        assertThat(sent.getParentSpanId()).isEqualTo(caller.getSpanId());
        assertThat(handled).allSatisfy(span -> {
            assertThat(span.getKind()).isEqualTo(SpanKind.CONSUMER);
            assertThat(span.getTraceId()).isEqualTo(caller.getTraceId());
            assertThat(span.getParentSpanId()).isEqualTo(sent.getSpanId());
        });
        assertThat(inHandlers).hasSize(attempts).containsOnly(caller.getTraceId());
    }

    @Test
    void from_a_publish_of_its_own() throws Exception {
        SpanData caller = inside(
                () -> trunkline.publisher().publish(Message.of("orders", "m").withKey("customer")));
        group();
        goesOn(caller, 1);
        assertThat(TELEMETRY.getSpans().toString())
                .contains("messaging.system", "messaging.consumer.group.name")
                .doesNotContain("customer");
    }

    @Test
    void from_a_publish_in_the_callers_transaction() throws Exception {
        SpanData caller = inside(() -> {
            try (Connection connection =
                    Place.postgres().dataSource(place.database()).getConnection()) {
                return trunkline.publisher().publish(connection, Message.of("orders", "m"));
            }
        });
        group();
        goesOn(caller, 1);
    }

    @Test
    void from_a_batch_to_each_of_its_messages() throws Exception {
        SpanData caller = inside(() -> trunkline
                .publisher()
                .publishAll(List.of(Message.of("orders", "1"), Message.of("orders", "2"), Message.of("orders", "3"))));
        group();
        goesOn(caller, 3);
    }

    @Test
    void to_every_attempt_the_failed_one_with_its_type_and_not_its_words() throws Exception {
        SpanData caller = inside(() -> trunkline.publisher().publish(Message.of("orders", "fails once")));
        group();
        goesOn(caller, 2);
        assertThat(await("process orders", 2))
                .extracting(span -> span.getStatus().getStatusCode())
                .containsExactly(StatusCode.ERROR, StatusCode.UNSET);
        assertThat(TELEMETRY.getSpans().toString())
                .contains("java.lang.IllegalStateException")
                .doesNotContain("secret payload");
    }

    @Test
    void a_context_that_a_message_has_is_kept() throws Exception {
        String theirs = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        trunkline.publisher().publish(Message.of("orders", "m").withHeader("traceparent", theirs));
        group();
        SpanData handled = await("process orders", 1).getFirst();
        assertThat(handled.getTraceId()).isEqualTo("0af7651916cd43dd8448eb211c80319c");
        assertThat(handled.getParentSpanId()).isEqualTo("b7ad6b7169203331");
    }

    @Test
    void baggage_alone_and_what_can_not_be_read_is_no_context() throws Exception {
        OpenTelemetry both = new OpenTelemetry() {
            @Override
            public TracerProvider getTracerProvider() {
                return TELEMETRY.getOpenTelemetry().getTracerProvider();
            }

            @Override
            public ContextPropagators getPropagators() {
                return ContextPropagators.create(TextMapPropagator.composite(
                        W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance()));
            }
        };
        try (Trunkline other =
                place.options().observer(new TrunklineTracing(both)).open()) {
            SpanData caller = inside(() -> other.publisher()
                    .publishAll(List.of(
                            Message.of("orders", "1").withHeader("baggage", "tenant=shop"),
                            Message.of("orders", "2").withHeader("traceparent", "00-nonsense-01"),
                            Message.of("orders", "3").withHeader("mine", "stays"))));
            group();
            goesOn(caller, 3);
        }
        assertThat(pulled())
                .extracting(message -> message.headers().getOrDefault("baggage", "none"))
                .containsExactlyInAnyOrder("tenant=shop", "none", "none");
    }

    private List<LogMessage> pulled() {
        PullConsumer<String> consumer = trunkline.pull("look", "orders", String.class, PullOptions.fromBeginning());
        List<LogMessage> found = new ArrayList<>();
        consumer.pop(10, Duration.ofSeconds(30))
                .ifPresent(batch -> batch.deliveries().forEach(each -> found.add(each.message())));
        consumer.pop(10, Duration.ofSeconds(30))
                .ifPresent(batch -> batch.deliveries().forEach(each -> found.add(each.message())));
        return found;
    }

    @Test
    void to_what_is_redriven() throws Exception {
        SpanData caller = inside(() -> trunkline.publisher().publish(Message.of("orders", "m")));
        ConsumerGroup<String> group = trunkline
                .createConsumerGroup("billing", "orders", String.class)
                .addConsumer("a", delivery -> {
                    inHandlers.add(Span.current().getSpanContext().getTraceId());
                    if (inHandlers.size() == 1) {
                        throw new IllegalStateException("the first time");
                    }
                })
                .start(SubscriptionOptions.fromBeginning()
                        .withRetry(new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1))));
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .until(() -> group.deadLetters().redriveAll() == 1);
        goesOn(caller, 2);
    }

    @Test
    void what_is_pulled_can_go_on_in_it() throws Exception {
        SpanData caller = inside(() -> trunkline.publisher().publish(Message.of("orders", "m")));
        var delivery = trunkline
                .pull("batch", "orders", String.class, PullOptions.fromBeginning())
                .pop(10, Duration.ofSeconds(30), Duration.ofSeconds(30))
                .orElseThrow()
                .deliveries()
                .getFirst();
        assertThat(Span.fromContext(tracing.contextOf(delivery.message()))
                        .getSpanContext()
                        .getTraceId())
                .isEqualTo(caller.getTraceId());
    }

    @Test
    void a_publish_that_fails_is_an_error() {
        assertThatThrownBy(() -> trunkline.publisher().publish(Message.of("none", "m")))
                .isInstanceOf(UnknownTopicException.class);
        SpanData sent = await("send none", 1).getFirst();
        assertThat(sent.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    }
}
