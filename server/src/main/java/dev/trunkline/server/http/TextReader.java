package dev.trunkline.server.http;

import java.time.DateTimeException;
import java.util.List;
import java.util.function.Function;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;

/** Reads times, durations and words as they are told: as text, and nothing else. Numbers would be taken for seconds, and what stands around a word passed over. */
final class TextReader<T> extends StdDeserializer<T> {

    private final Class<T> type;
    private final Function<String, T> parse;

    TextReader(Class<T> type, Function<String, T> parse) {
        super(type);
        this.type = type;
        this.parse = parse;
    }

    @Override
    public T deserialize(JsonParser parser, DeserializationContext context) {
        if (parser.currentToken() != JsonToken.VALUE_STRING) {
            return type.cast(context.handleUnexpectedToken(type, parser));
        }
        String text = parser.getString();
        try {
            return parse.apply(text);
        } catch (DateTimeException | ArithmeticException | IllegalArgumentException e) {
            throw context.weirdStringException(
                    text,
                    type,
                    type.isEnum()
                            ? "it is none of " + List.of(type.getEnumConstants())
                            : "it is to be as in PT30S, or 2026-11-16T08:00:00Z");
        }
    }
}
