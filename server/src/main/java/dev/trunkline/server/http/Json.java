package dev.trunkline.server.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.trunkline.CompletionTrackingMode;
import dev.trunkline.Ordering;
import dev.trunkline.Priority;
import dev.trunkline.TopicSemantics;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.type.LogicalType;

/** How requests are read, strictly, and answers are written. */
final class Json {

    private static final int MOST_NESTING = 100;
    private static final int LONGEST_NUMBER = 100;

    static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MOST_NESTING)
                            .maxNumberLength(LONGEST_NUMBER)
                            .maxStringLength(Integer.MAX_VALUE) // the body has a limit
                            .maxNameLength(Integer.MAX_VALUE)
                            .build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS)
            .disable(DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            // Blank is not the same as nothing.
            .withCoercionConfigDefaults(config -> config.setAcceptBlankAsEmpty(false)
                    .setCoercion(CoercionInputShape.EmptyString, CoercionAction.Fail))
            .withCoercionConfig(
                    LogicalType.Textual,
                    config -> config.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
            .addModule(new SimpleModule()
                    .addSerializer(new InstantWriter())
                    .addDeserializer(AnyJson.class, new AnyJson.Reader())
                    .addDeserializer(Duration.class, new TextReader<>(Duration.class, Duration::parse))
                    .addDeserializer(Instant.class, new TextReader<>(Instant.class, Instant::parse))
                    .addDeserializer(Priority.class, new TextReader<>(Priority.class, Priority::valueOf))
                    .addDeserializer(Verb.class, new TextReader<>(Verb.class, Verb::valueOf))
                    .addDeserializer(Ordering.class, new TextReader<>(Ordering.class, Ordering::valueOf))
                    .addDeserializer(
                            TopicSemantics.class, new TextReader<>(TopicSemantics.class, TopicSemantics::valueOf))
                    .addDeserializer(
                            CompletionTrackingMode.class,
                            new TextReader<>(CompletionTrackingMode.class, CompletionTrackingMode::valueOf)))
            .build();

    /** What is null is left out. */
    static final JsonMapper SHORT = MAPPER.rebuild()
            .changeDefaultPropertyInclusion(
                    its -> JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
            .build();

    private Json() {}

    /** What is wrong with what could not be read, and where. */
    static Problem problem(JacksonException e) {
        if (e.getCause() instanceof Problem refused) {
            return refused;
        }
        if (e.getCause() instanceof CharacterCodingException) {
            return Problem.badRequest("the body is no UTF-8");
        }
        if (e.getCause() instanceof IOException) {
            return Problem.badRequest("the body did not come to its end");
        }
        if (e instanceof StreamConstraintsException) {
            return Problem.badRequest("the body is nested more than " + MOST_NESTING
                    + " deep, or a number in it has more than " + LONGEST_NUMBER + " digits");
        }
        String field = field(e);
        String detail = e.getOriginalMessage()
                .replaceAll("\\(for [^)]*\\)|`?(java|dev|tools)\\.[\\w.$]*`?", "")
                .strip();
        Problem problem = Problem.badRequest("the body can not be read: " + detail);
        if (!field.isEmpty()) {
            problem.with("field", field.startsWith(".") ? field.substring(1) : field);
        }
        return e.getLocation() == null
                ? problem
                : problem.with("line", e.getLocation().getLineNr());
    }

    private static String field(JacksonException e) {
        if (e instanceof DatabindException databind) {
            return databind.getPath().stream().map(Json::name).collect(Collectors.joining());
        }
        if (e instanceof StreamReadException unread && unread.processor() != null) {
            String pointer =
                    unread.processor().streamReadContext().pathAsPointer().toString();
            return pointer.isEmpty() ? "" : pointer.substring(1).replace('/', '.');
        }
        return "";
    }

    private static String name(JacksonException.Reference reference) {
        return reference.getPropertyName() == null
                ? "[" + reference.getIndex() + "]"
                : "." + reference.getPropertyName();
    }
}
