package dev.trunkline.server.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JavaType;

/** Tells what can be asked, as OpenAPI 3.1: of routes, and of the records that are read and written. */
final class OpenApi {

    private static final String PROBLEM = "Problem";

    private static final Map<String, Object> RETRY_AFTER =
            map("description", "of 429 and 503: after how many seconds to try again", "schema", map("type", "integer"));

    private final Map<String, Object> schemas = new TreeMap<>();

    private OpenApi() {}

    static Map<String, Object> of(List<Route> routes) {
        return new OpenApi().document(routes);
    }

    private Map<String, Object> document(List<Route> routes) {
        Map<String, Map<String, Object>> paths = new LinkedHashMap<>();
        for (Route route : routes) {
            paths.computeIfAbsent(route.template(), template -> new LinkedHashMap<>())
                    .put(route.method().toLowerCase(Locale.ROOT), operation(route));
        }
        schemas.put(PROBLEM, problem());
        return map(
                "openapi",
                "3.1.0",
                "info",
                map("title", "Trunkline", "version", "1", "description", "Durable messaging inside PostgreSQL."),
                "security",
                List.of(map("bearer", List.of())),
                "paths",
                paths,
                "components",
                map("securitySchemes", map("bearer", map("type", "http", "scheme", "bearer")), "schemas", schemas));
    }

    private Map<String, Object> operation(Route route) {
        Map<String, Object> operation = map("summary", route.says());
        route.verb()
                .ifPresentOrElse(
                        verb -> operation.put("x-verb", verb.name()), () -> operation.put("security", List.of()));
        List<Map<String, Object>> parameters = Stream.concat(
                        route.parts().stream()
                                .filter(part -> part.startsWith("{"))
                                .map(OpenApi::inPath),
                        Stream.concat(
                                route.query().stream().map(its -> said(its, "query")),
                                route.headers().stream().map(its -> said(its, "header"))))
                .toList();
        if (!parameters.isEmpty()) {
            operation.put("parameters", parameters);
        }
        if (!route.bodies().isEmpty()) {
            Map<String, Object> content = new LinkedHashMap<>();
            route.bodies().forEach((type, body) -> content.put(type, map("schema", schema(body, false))));
            operation.put("requestBody", map("required", true, "content", content));
        }
        Map<String, Object> responses = new LinkedHashMap<>();
        route.answers().forEach((status, answer) -> responses.put("" + status, response(answer)));
        responses.put(
                "default",
                map(
                        "description",
                        "what is wrong, by RFC 9457",
                        "headers",
                        map("Retry-After", RETRY_AFTER),
                        "content",
                        map(HttpServer.PROBLEM, map("schema", reference(PROBLEM)))));
        operation.put("responses", responses);
        return operation;
    }

    private static Map<String, Object> inPath(String part) {
        String name = part.substring(1, part.length() - 1);
        String type = name.equals("id") ? "integer" : "string";
        return map("name", name, "in", "path", "required", true, "schema", map("type", type));
    }

    private static Map<String, Object> said(Parameter parameter, String where) {
        Map<String, Object> schema = map("type", parameter.isNumber() ? "integer" : "string");
        if (parameter.isNumber()) {
            schema.put("minimum", parameter.least());
            schema.put("maximum", parameter.most());
            schema.put("default", parameter.otherwise());
        } else if (!parameter.words().isEmpty()) {
            schema.put("enum", parameter.words());
        }
        return map("name", parameter.name(), "in", where, "description", parameter.says(), "schema", schema);
    }

    private Map<String, Object> response(Route.Answer answer) {
        return answer.type() == void.class
                ? map("description", "done; there is nothing to tell")
                : map(
                        "description",
                        answer.contentType().equals(Events.TYPE) ? "events, each with this as its data" : "as asked",
                        "content",
                        map(answer.contentType(), map("schema", schema(answer.type(), true))));
    }

    /** @param told whether it is what we say: then all fields are there */
    private Map<String, Object> schema(Type type, boolean told) {
        if (type instanceof OneOrMore some) {
            Map<String, Object> one = schema(some.of(), told);
            return map("oneOf", List.of(one, map("type", "array", "minItems", 1, "items", one)));
        }
        JavaType java = Json.MAPPER.constructType(type);
        Class<?> raw = java.getRawClass();
        if (raw == Optional.class) {
            return orNull(schema(java.containedType(0), told));
        }
        if (raw.isEnum()) {
            return map(
                    "type",
                    "string",
                    "enum",
                    Stream.of(raw.getEnumConstants()).map(Object::toString).toList());
        }
        if (raw == byte[].class) {
            return simple(raw);
        }
        if (java.isCollectionLikeType()) {
            return map("type", "array", "items", schema(java.getContentType(), told));
        }
        if (java.isMapLikeType()) {
            return map("type", "object", "additionalProperties", schema(java.getContentType(), told));
        }
        if (raw.isRecord()) {
            return recordOf(java, told);
        }
        return simple(raw);
    }

    private static Map<String, Object> simple(Class<?> raw) {
        if (raw == Instant.class) {
            return map("type", "string", "format", "date-time");
        }
        if (raw == Duration.class) {
            return map("type", "string", "format", "duration");
        }
        if (raw == boolean.class || raw == Boolean.class) {
            return map("type", "boolean");
        }
        if (raw == String.class || raw == byte[].class) {
            return map("type", "string");
        }
        if (raw == AnyJson.class) {
            return map("description", "any JSON");
        }
        if (raw == double.class) {
            return map("type", "number");
        }
        if (raw == int.class || raw == Integer.class || raw == long.class || raw == Long.class) {
            return map("type", "integer", "format", raw == int.class || raw == Integer.class ? "int32" : "int64");
        }
        throw new IllegalStateException("nobody knows how to tell of " + raw);
    }

    private Map<String, Object> recordOf(JavaType java, boolean told) {
        Class<?> raw = java.getRawClass();
        String name = raw.getSimpleName();
        if (java.containedTypeCount() > 0) {
            name = java.containedType(0).getRawClass().getSimpleName() + name;
        }
        if (!schemas.containsKey(name)) {
            schemas.put(name, Map.of());
            Map<String, Object> properties = new LinkedHashMap<>();
            List<String> required = new ArrayList<>();
            for (RecordComponent component : raw.getRecordComponents()) {
                String field = Optional.ofNullable(component.getAccessor().getAnnotation(JsonProperty.class))
                        .map(JsonProperty::value)
                        .orElse(component.getName());
                boolean leftOut =
                        raw.isAnnotationPresent(JsonInclude.class) && isNullable(component.getAnnotatedType());
                properties.put(field, property(java, component, told, leftOut));
                if (told && !leftOut) {
                    required.add(field);
                }
            }
            Map<String, Object> schema = map("type", "object", "properties", properties, "additionalProperties", false);
            if (told) {
                schema.put("required", required);
            }
            schemas.put(name, schema);
        }
        return reference(name);
    }

    /** @param leftOut whether it is left out instead of null */
    private Map<String, Object> property(JavaType owner, RecordComponent component, boolean told, boolean leftOut) {
        Type type = component.getGenericType();
        Map<String, Object> schema =
                schema(Json.MAPPER.getTypeFactory().resolveMemberType(type, owner.getBindings()), told);
        JsonPropertyDescription description = component.getAccessor().getAnnotation(JsonPropertyDescription.class);
        if (description != null) {
            schema.put("description", description.value());
        }
        return isNullable(component.getAnnotatedType()) && !leftOut ? orNull(schema) : schema;
    }

    private static boolean isNullable(AnnotatedType type) {
        return type.isAnnotationPresent(Nullable.class);
    }

    private static Map<String, Object> orNull(Map<String, Object> schema) {
        if (schema.get("type") instanceof String type && !schema.containsKey("enum")) {
            Map<String, Object> wider = new LinkedHashMap<>(schema);
            wider.put("type", List.of(type, "null"));
            return wider;
        }
        return schema.containsKey("$ref") || schema.containsKey("enum")
                ? map("oneOf", List.of(schema, map("type", "null")))
                : schema;
    }

    private static Map<String, Object> reference(String name) {
        return map("$ref", "#/components/schemas/" + name);
    }

    private static Map<String, Object> problem() {
        return map(
                "type",
                "object",
                "required",
                List.of("type", "title", "status", "detail"),
                "properties",
                map(
                        "type", map("type", "string"),
                        "title", map("type", "string"),
                        "status", map("type", "integer"),
                        "detail", map("type", "string"),
                        "field", map("type", "string", "description", "what it is about"),
                        "line", map("type", "integer", "description", "of the body"),
                        "message", map("type", "integer", "description", "which one of several, from 0"),
                        "published", map("type", "integer", "description", "how many were published before it"),
                        "epoch", map("type", "integer", "description", "the epoch that the partition is at now"),
                        "outcome",
                                map(
                                        "type",
                                        "string",
                                        "enum",
                                        List.of("unknown"),
                                        "description",
                                        "it may have been done"),
                        "allow", map("type", "array", "items", map("type", "string")),
                        "hint", map("type", "string")),
                "additionalProperties",
                false);
    }

    private static Map<String, Object> map(Object... namesAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            map.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return map;
    }
}
