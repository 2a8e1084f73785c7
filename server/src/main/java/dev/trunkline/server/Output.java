package dev.trunkline.server;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/** How values are printed. */
public final class Output {

    private static final JsonMapper JSON = new JsonMapper();

    private Output() {}

    /** On one line. */
    public static String json(Object value) {
        return JSON.writeValueAsString(value);
    }

    /** The text of bytes, if they are UTF-8. */
    public static Optional<String> text(byte[] bytes) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }
}
