package dev.trunkline.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** What is on record of one scenario: a line on the run, then a line for each figure. */
record Chapter(String scenario, Run run, List<Figure> figures) {

    static final String ENDING = ".jsonl";

    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** The file's text for a run and for results as {@code --json} prints them. */
    static String text(Run run, List<String> results) {
        return JSON.writeValueAsString(run) + "\n" + String.join("\n", results) + "\n";
    }

    static Chapter read(Path file) throws IOException {
        String name = file.getFileName().toString();
        List<String> lines = Files.readAllLines(file);
        if (lines.size() < 2) {
            throw new IllegalArgumentException(
                    name + " has " + lines.size() + " lines, and a run with a result has two: remove it");
        }
        List<Figure> figures = new ArrayList<>();
        Run run = parse(name, lines, 0, Run.class);
        for (int i = 1; i < lines.size(); i++) {
            figures.add(parse(name, lines, i, Figure.class));
        }
        return new Chapter(name.substring(0, name.length() - ENDING.length()), run, figures);
    }

    private static <T> T parse(String file, List<String> lines, int i, Class<T> type) {
        try {
            return JSON.readValue(lines.get(i), type);
        } catch (JacksonException e) {
            throw new IllegalArgumentException(
                    "line %d of %s is not one that bench has written: %s; repair the file or remove it"
                            .formatted(i + 1, file, e.getOriginalMessage()),
                    e);
        }
    }
}
