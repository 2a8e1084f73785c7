package dev.trunkline.server.http;

import dev.trunkline.Message;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The trace that a caller is in, as W3C has it: what is published carries it on, so that who handles it is in it too.
 *
 * @param parent empty: there is none, or it is none that could be read
 */
record TraceContext(Optional<String> parent, Optional<String> state) {

    private static final String PARENT = "traceparent";
    private static final String STATE = "tracestate";
    static final Parameter HEADER =
            Parameter.text(PARENT, "the trace that the caller is in, by W3C: messages carry it on");
    private static final Pattern VALID =
            Pattern.compile("(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");
    private static final int LONGEST_STATE = 512;

    static TraceContext of(Exchange exchange) {
        Optional<String> parent =
                exchange.header(PARENT).filter(value -> VALID.matcher(value).matches());
        Optional<String> state = parent.flatMap(valid -> exchange.header(STATE))
                .filter(value -> !value.isBlank() && value.length() <= LONGEST_STATE);
        return new TraceContext(parent, state);
    }

    /** The message with it, unless it has one of its own. */
    Message onto(Message message) {
        if (parent.isEmpty() || message.headers().containsKey(PARENT)) {
            return message;
        }
        Message carrying = message.withHeader(PARENT, parent.get());
        return state.isEmpty() ? carrying : carrying.withHeader(STATE, state.get());
    }
}
