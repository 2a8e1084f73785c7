package dev.trunkline.server.http;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.exc.StreamWriteException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;

/** Whatever was said as JSON, as bytes: a tree of it could be thirty times as large as it is. */
final class AnyJson {

    private final byte[] bytes;

    private AnyJson(byte[] bytes) {
        this.bytes = bytes;
    }

    byte[] bytes() {
        return bytes;
    }

    /** Reads it, to the last digit. */
    static final class Reader extends StdDeserializer<AnyJson> {

        Reader() {
            super(AnyJson.class);
        }

        @Override
        public AnyJson deserialize(JsonParser parser, DeserializationContext context) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (JsonGenerator copy = Json.MAPPER.createGenerator(bytes)) {
                copy.copyCurrentStructureExact(parser);
            } catch (StreamWriteException e) {
                throw DatabindException.from(parser, "it can not be written as UTF-8: " + e.getOriginalMessage());
            }
            return new AnyJson(bytes.toByteArray());
        }

        @Override
        public AnyJson getNullValue(DeserializationContext context) {
            return new AnyJson("null".getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public @Nullable Object getAbsentValue(DeserializationContext context) {
            return null;
        }
    }
}
