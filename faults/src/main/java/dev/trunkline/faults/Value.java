package dev.trunkline.faults;

import dev.trunkline.Codec;
import dev.trunkline.InvalidMessageException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** The payload of a message of a trial, as consumers get it. */
record Value(String text) {

    private static final Pattern FORM = Pattern.compile("[\\w.-]+");

    /** Knows values only, and not every text is one. */
    static final class ValueCodec implements Codec {

        @Override
        public String contentType() {
            return "text/plain";
        }

        @Override
        public byte[] encode(Object payload) {
            if (payload instanceof Value value) {
                return value.text.getBytes(StandardCharsets.UTF_8);
            }
            throw new InvalidMessageException(payload + " is no value");
        }

        @Override
        public <T> T decode(byte[] payload, Class<T> type) {
            String text = new String(payload, StandardCharsets.UTF_8);
            if (!FORM.matcher(text).matches()) {
                throw new InvalidMessageException("\"" + text + "\" is no value");
            }
            return type.cast(new Value(text));
        }
    }
}
