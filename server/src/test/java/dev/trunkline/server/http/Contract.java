package dev.trunkline.server.http;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Holds answers against the OpenAPI document that the server itself gives. */
final class Contract {

    private final JsonNode document;

    Contract(JsonNode document) {
        this.document = document;
    }

    /** What is wrong with an answer. */
    List<String> flaws(Route route, Api.Answer answer) {
        return flaws(route, answer.status(), answer.type(), answer.text());
    }

    List<String> flaws(Route route, int status, String type, String text) {
        JsonNode responses = document.at("/paths")
                .path(route.template())
                .path(route.method().toLowerCase(java.util.Locale.ROOT))
                .path("responses");
        JsonNode response = responses.path("" + status);
        if (response.isMissingNode()) {
            if (status < 400) {
                return List.of(route + " does not tell of " + status);
            }
            response = responses.path("default");
        }
        JsonNode content = response.path("content");
        if (content.isMissingNode()) {
            return text.isEmpty() ? List.of() : List.of(route + " tells of no body");
        }
        JsonNode schema = content.path(type).path("schema");
        if (schema.isMissingNode()) {
            return List.of(route + " tells of no " + type + " for " + status);
        }
        if (type.startsWith("text/plain")) {
            return List.of();
        }
        List<String> flaws = new ArrayList<>();
        check(schema, Json.MAPPER.readTree(text), route + " " + status + ": ", flaws);
        return flaws;
    }

    private void check(JsonNode schema, JsonNode value, String at, List<String> flaws) {
        if (schema.has("$ref")) {
            check(document.at(schema.path("$ref").asString().substring(1)), value, at, flaws);
            return;
        }
        if (schema.has("oneOf")) {
            List<String> all = new ArrayList<>();
            for (JsonNode one : schema.path("oneOf")) {
                List<String> some = new ArrayList<>();
                check(one, value, at, some);
                if (some.isEmpty()) {
                    return;
                }
                all.addAll(some);
            }
            flaws.addAll(all);
            return;
        }
        if (schema.has("type") && !types(schema.path("type")).contains(type(value))) {
            flaws.add(at + " is " + type(value) + ", not " + schema.path("type"));
        }
        if (schema.has("enum") && schema.path("enum").valueStream().noneMatch(value::equals)) {
            flaws.add(at + " is none of " + schema.path("enum"));
        }
        value.valueStream()
                .filter(item -> value.isArray())
                .forEach(item -> check(schema.path("items"), item, at + "[]", flaws));
        if (!value.isObject()) {
            return;
        }
        for (JsonNode name : schema.path("required")) {
            if (!value.has(name.asString())) {
                flaws.add(at + " has no " + name);
            }
        }
        value.properties().forEach(property -> {
            JsonNode known = schema.path("properties").path(property.getKey());
            if (!known.isMissingNode()) {
                check(known, property.getValue(), at + "." + property.getKey(), flaws);
            } else if (schema.path("additionalProperties").isObject()) {
                check(schema.path("additionalProperties"), property.getValue(), at + "." + property.getKey(), flaws);
            } else {
                flaws.add(at + " has " + property.getKey() + ", of which nothing is told");
            }
        });
    }

    private static List<String> types(JsonNode type) {
        return type.isArray() ? type.valueStream().map(JsonNode::asString).toList() : List.of(type.asString());
    }

    private static String type(JsonNode value) {
        return switch (value.getNodeType()) {
            case NUMBER -> value.isIntegralNumber() ? "integer" : "number";
            case BOOLEAN -> "boolean";
            case STRING -> "string";
            case ARRAY -> "array";
            case NULL -> "null";
            default -> "object";
        };
    }
}
