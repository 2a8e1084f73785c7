package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;

/** The document of the API. That answers are as it says is seen by every test that gets some: see {@link Api}. */
@Timeout(120)
class OpenApiTest {

    private static final Path FILE = Path.of("..", "docs", "openapi.json");

    @Test
    void it_tells_of_every_route_and_of_nothing_else_and_so_does_the_file() throws Exception {
        try (Api api = Api.start()) {
            JsonNode document = api.as(null).get("/openapi.json").json();
            Set<String> told = new TreeSet<>();
            document.path("paths")
                    .properties()
                    .forEach(path -> path.getValue()
                            .properties()
                            .forEach(operation ->
                                    told.add(operation.getKey().toUpperCase(Locale.ROOT) + " " + path.getKey())));
            Set<String> served = new TreeSet<>();
            for (Route route : api.routes()) {
                served.add(route.toString());
                assertThat(route.says()).as(route.toString()).isNotBlank();
            }
            served.remove("GET /openapi.json");
            assertThat(told).isEqualTo(served).hasSizeGreaterThan(30);
            String text = Json.MAPPER.writer(SerializationFeature.INDENT_OUTPUT).writeValueAsString(document) + "\n";
            if (Boolean.getBoolean("openapi.write")) {
                Files.writeString(FILE, text);
            }
            assertThat(Files.readString(FILE))
                    .as("write it anew: mvn test -pl server -am -Dtest=OpenApiTest -Dopenapi.write=true")
                    .isEqualTo(text);
        }
    }

    @Test
    void every_reference_leads_somewhere_and_everything_is_referred_to() throws Exception {
        try (Api api = Api.start()) {
            JsonNode document = api.get("/openapi.json").json();
            List<String> references = document.findValuesAsString("$ref");
            for (String reference : references) {
                assertThat(document.at(reference.substring(1)).isObject())
                        .as(reference)
                        .isTrue();
            }
            for (String schema : document.at("/components/schemas").propertyNames()) {
                assertThat(references).contains("#/components/schemas/" + schema);
            }
        }
    }

    @Test
    void answers_that_are_not_as_told_are_noticed() throws Exception {
        try (Api api = Api.start()) {
            Contract contract = new Contract(api.get("/openapi.json").json());
            Route route = api.routes().stream()
                    .filter(its -> its.toString().equals("GET /v1/topics"))
                    .findFirst()
                    .orElseThrow();
            Api.Answer good = api.get("/v1/topics");
            for (String text : List.of(
                    "{}",
                    "{\"items\": [], \"next\": 5}",
                    "{\"items\": [{}], \"next\": null}",
                    "{\"items\": [], \"next\": null, \"more\": 1}",
                    "[]")) {
                assertThat(contract.flaws(route, new Api.Answer(200, good.type(), text, good.response())))
                        .as(text)
                        .isNotEmpty();
            }
            assertThat(contract.flaws(route, new Api.Answer(201, good.type(), good.text(), good.response())))
                    .isNotEmpty();
            assertThat(contract.flaws(route, good)).isEmpty();
        }
    }
}
