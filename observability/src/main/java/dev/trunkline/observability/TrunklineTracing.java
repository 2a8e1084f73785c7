package dev.trunkline.observability;

import dev.trunkline.Delivery;
import dev.trunkline.LogMessage;
import dev.trunkline.Message;
import dev.trunkline.Observer;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Traces through OpenTelemetry. A call that publishes is a span, in the caller's trace; its messages carry the context as headers, through the outbox and
 * the log; each attempt of a handler is a span, the child of the one that published. A message that has a context already, say of a caller of the HTTP API, keeps
 * it. Spans never say what a message holds, nor its key.
 *
 * {@snippet :
 * Trunkline trunkline = Trunkline.builder().dataSource(pool).observer(new TrunklineTracing(openTelemetry)).open();
 * }
 *
 * <p>The context is carried by the propagators of the {@link OpenTelemetry}: set that of W3C, {@code traceparent}, or others.
 */
public final class TrunklineTracing implements Observer {

    private static final TextMapGetter<Map<String, String>> HEADERS = new TextMapGetter<>() {
        @Override
        public @Nullable String get(@Nullable Map<String, String> headers, String name) {
            return headers == null ? null : headers.get(name);
        }
    };

    private static final TextMapSetter<Map<String, String>> SETTER = (headers, name, value) -> {
        if (headers != null) {
            headers.put(name, value);
        }
    };

    private final Tracer tracer;
    private final TextMapPropagator propagator;

    public TrunklineTracing(OpenTelemetry telemetry) {
        this.tracer = telemetry.getTracer("dev.trunkline");
        this.propagator = telemetry.getPropagators().getTextMapPropagator();
    }

    /** The context that a message carries, to go on in it with what was pulled: {@code contextOf(delivery.message()).makeCurrent()}. */
    public Context contextOf(LogMessage message) {
        return propagator.extract(Context.root(), message.headers(), HEADERS);
    }

    @Override
    public Publishing publishing(String topic, int messages) {
        SpanBuilder builder = builder("send", topic).setSpanKind(SpanKind.PRODUCER);
        if (messages > 1) {
            builder.setAttribute("messaging.batch.message_count", messages);
        }
        Span span = builder.startSpan();
        Context context = Context.current().with(span);
        Map<String, String> carried = new HashMap<>();
        propagator.inject(context, carried, SETTER);
        return new Publishing() {
            @Override
            public Message carrying(Message message) {
                Map<String, String> headers = new LinkedHashMap<>(message.headers());
                if (!headers.keySet().removeAll(propagator.fields())) {
                    headers.putAll(carried);
                } else if (hasSpan(message.headers())) {
                    return message;
                } else {
                    propagator.inject(propagator.extract(context, message.headers(), HEADERS), headers, SETTER);
                }
                return message.withHeaders(headers);
            }

            @Override
            public void over(@Nullable Throwable problem) {
                end(span, problem);
            }
        };
    }

    @Override
    @SuppressWarnings("MustBeClosedChecker") // it is closed when the attempt is over, on the same thread
    public Attempt handling(Delivery<?> delivery) {
        LogMessage message = delivery.message();
        SpanBuilder builder = builder("process", message.topic())
                .setSpanKind(SpanKind.CONSUMER)
                .setParent(contextOf(message))
                .setAttribute("messaging.destination.partition.id", Integer.toString(message.partition()))
                .setAttribute("messaging.message.id", Long.toString(message.id()))
                .setAttribute("trunkline.message.offset", message.offset())
                .setAttribute("messaging.consumer.group.name", delivery.group())
                .setAttribute("trunkline.attempt", delivery.attempt());
        Span span = builder.startSpan();
        Scope scope = span.makeCurrent();
        return new Attempt() {
            @Override
            public void over(@Nullable Throwable problem) {
                scope.close();
                end(span, problem);
            }
        };
    }

    /** Baggage alone is no trace, and neither is what can not be read. */
    private boolean hasSpan(Map<String, String> headers) {
        return Span.fromContext(propagator.extract(Context.root(), headers, HEADERS))
                .getSpanContext()
                .isValid();
    }

    private SpanBuilder builder(String operation, String topic) {
        return tracer.spanBuilder(operation + " " + topic)
                .setAttribute("messaging.system", "trunkline")
                .setAttribute("messaging.operation.name", operation)
                .setAttribute("messaging.operation.type", operation)
                .setAttribute("messaging.destination.name", topic);
    }

    /** What went wrong is told by its type: the words of an exception may quote a message. */
    private static void end(Span span, @Nullable Throwable problem) {
        if (problem != null) {
            span.setStatus(StatusCode.ERROR)
                    .setAttribute("error.type", problem.getClass().getName());
        }
        span.end();
    }
}
