package dev.trunkline.jackson;

import dev.trunkline.Codec;
import dev.trunkline.InvalidMessageException;
import java.util.Objects;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Payloads as JSON. Trunkline finds it by itself; give it a mapper of your own to change how types are written.
 *
 * {@snippet :
 * Trunkline.builder().url(url, user, password).codec(new JacksonCodec(mapper)).open();
 * }
 *
 * <p>The default mapper writes times as ISO 8601 text, ignores properties that a type does not have, so that publishers
 * can add some first, refuses objects in which it sees nothing to write, and never takes the name of a class from a message. Objects nested deeper than 200 and numbers
 * longer than 1000 digits are refused. Safe for any number of threads.
 */
public final class JacksonCodec implements Codec {

    private static final int DEEPEST = 200;
    private static final int LONGEST_NUMBER = 1_000;
    /** As large as a payload can be: what was encoded can be decoded. */
    private static final int LONGEST_TEXT = 256 * 1024 * 1024;

    private final JsonMapper mapper;

    public JacksonCodec() {
        this(defaultMapper());
    }

    /** Encodes as this mapper says. Its limits hold, and none of the above do. */
    public JacksonCodec(JsonMapper mapper) {
        this.mapper = Objects.requireNonNull(mapper, "mapper");
    }

    private static JsonMapper defaultMapper() {
        JsonFactory factory = JsonFactory.builder()
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(DEEPEST)
                        .maxNumberLength(LONGEST_NUMBER)
                        .maxStringLength(LONGEST_TEXT)
                        .maxDocumentLength(LONGEST_TEXT)
                        .build())
                .streamWriteConstraints(StreamWriteConstraints.builder()
                        .maxNestingDepth(DEEPEST)
                        .build())
                .build();
        return JsonMapper.builder(factory)
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .enable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
                .disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS)
                .build();
    }

    @Override
    public String contentType() {
        return "application/json";
    }

    @Override
    public byte[] encode(Object payload) {
        try {
            return mapper.writeValueAsBytes(payload);
        } catch (JacksonException e) {
            throw new InvalidMessageException(
                    "can not encode a " + payload.getClass().getName() + " as JSON (" + reason(e)
                            + "): publish a record or another type that Jackson can write, or give JacksonCodec a mapper that can",
                    e);
        }
    }

    @Override
    public <T> T decode(byte[] payload, Class<T> type) {
        T value;
        try {
            value = mapper.readValue(payload, type);
        } catch (JacksonException e) {
            throw new InvalidMessageException(undecodable(payload, type, reason(e)), e);
        }
        if (value == null) {
            throw new InvalidMessageException(undecodable(payload, type, "it is null"));
        }
        return value;
    }

    private static String undecodable(byte[] payload, Class<?> type, String reason) {
        return "can not decode " + payload.length + " bytes of JSON as " + type.getName() + " (" + reason
                + "): decode it as the type that was published, or read the payload as bytes";
    }

    /** Where and why, without the payload itself: error messages end up in logs. */
    private static String reason(JacksonException e) {
        String where = e.getLocation() == null || e.getLocation().getLineNr() < 1
                ? ""
                : " at line " + e.getLocation().getLineNr() + ", column "
                        + e.getLocation().getColumnNr();
        return e.getOriginalMessage() + where;
    }
}
