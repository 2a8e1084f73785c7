package dev.trunkline.server.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/sql.md} speaks of the functions that there are, with the parameters that they have. */
class SqlDocumentTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "sql.md");
    /** A signature between backticks: words, commas and brackets. */
    private static final Pattern SIGNATURE =
            Pattern.compile("`(?:call trunkline\\.)?([a-z_]+)\\(([a-z_, \\[\\]]*)\\)`");

    private static final Pattern CALL = Pattern.compile("trunkline\\.([a-z_]+)\\(");

    /** What people decide, and the command line and HTTP let them. */
    private static final Set<String> DECISIONS = Set.of(
            "alter_topic",
            "cancel_wildcard",
            "change_group",
            "discard",
            "drop_topic",
            "edit_dead_letter",
            "force_complete",
            "hold_catch_up",
            "redrive",
            "resurrect",
            "seek",
            "set_default_start",
            "set_unconfigured_topics",
            "skip_catch_up",
            "subscribe_wildcard");

    private final Map<String, Set<String>> signatures = new TreeMap<>();

    SqlDocumentTest() throws SQLException {
        for (String row : new Shop().query("""
                select p.proname, p.pronargs - p.pronargdefaults, coalesce(array_to_string(array(
                    select n from unnest(p.proargnames, coalesce(p.proargmodes, array[]::"char"[])) with ordinality as a(n, mode, i)
                    where coalesce(mode, 'i') = 'i' order by i), ','), '')
                from pg_proc p where p.pronamespace = 'trunkline'::regnamespace""")) {
            String[] columns = row.split("\\|", -1);
            List<String> names = columns[2].isEmpty() ? List.of() : List.of(columns[2].split(","));
            int required = Math.min(Integer.parseInt(columns[1]), names.size());
            signatures
                    .computeIfAbsent(columns[0], name -> new TreeSet<>())
                    .add(text(names.subList(0, required), names.subList(required, names.size())));
        }
    }

    private static String text(List<String> required, List<String> optional) {
        return required + " " + optional;
    }

    private static List<String> words(String text) {
        return Pattern.compile("[a-z_]+")
                .matcher(text)
                .results()
                .map(MatchResult::group)
                .toList();
    }

    private static String documented(String parameters) {
        int bracket = parameters.indexOf('[');
        return bracket < 0
                ? text(words(parameters), List.of())
                : text(words(parameters.substring(0, bracket)), words(parameters.substring(bracket)));
    }

    private static List<MatchResult> inDocument() throws IOException {
        return SIGNATURE.matcher(Files.readString(DOCUMENT)).results().toList();
    }

    @Test
    void every_signature_is_one_of_a_function() throws IOException {
        List<MatchResult> found = inDocument();
        assertThat(found).hasSizeGreaterThan(35);
        for (MatchResult each : found) {
            String name = each.group(1);
            if (!name.equals("jsonb_object")) {
                assertThat(signatures.getOrDefault(name, Set.of()))
                        .as(each.group())
                        .contains(documented(each.group(2)));
            }
        }
    }

    @Test
    void every_function_that_people_call_has_its_signature() throws IOException {
        Set<String> named = inDocument().stream().map(each -> each.group(1)).collect(Collectors.toSet());
        named.addAll(Set.of("adopt", "channel")); // without parameters, in a sentence
        Set<String> called = new TreeSet<>(DECISIONS);
        for (Path file : files()) {
            CALL.matcher(Files.readString(file))
                    .results()
                    .map(each -> each.group(1))
                    .filter(signatures::containsKey)
                    .forEach(called::add);
        }
        assertThat(called).contains("publish", "pop_json", "relay_now");
        assertThat(named).containsAll(called);
    }

    private static List<Path> files() throws IOException {
        List<Path> all = new ArrayList<>(List.of(Path.of("..", "README.md")));
        for (Path directory : List.of(Path.of("..", "docs"), Path.of("..", "examples"))) {
            try (Stream<Path> files = Files.walk(directory)) {
                files.filter(file -> file.toString().matches("(?!.*node_modules).*\\.(md|sql|js)"))
                        .forEach(all::add);
            }
        }
        return all;
    }
}
