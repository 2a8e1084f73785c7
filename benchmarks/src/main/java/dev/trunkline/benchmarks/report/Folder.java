package dev.trunkline.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** The directory of a report. Each file is replaced as a whole or not at all, and only if it was written here. */
public final class Folder {

    private static final String README = "README.md";
    private static final String NOTES = "NOTES.md";

    private final Path directory;
    private final Map<String, String> summaries;
    private final List<String> order;

    private Folder(Path directory, Map<String, String> summaries) {
        this.directory = directory;
        this.summaries = summaries;
        this.order = List.copyOf(summaries.keySet());
    }

    /**
     * One that may not be there yet.
     *
     * @param summaries of the scenarios, in their order
     * @throws IllegalArgumentException if something there is not of this making
     */
    public static Folder open(Path directory, Map<String, String> summaries) throws IOException {
        if (Files.exists(directory) && !Files.isDirectory(directory)) {
            throw new IllegalArgumentException("that is a file, and a report is a directory");
        }
        Path readme = directory.resolve(README);
        if (Files.exists(readme) && !Files.readString(readme).startsWith(Readme.MARK)) {
            throw new IllegalArgumentException("its " + README + " is no report: name another directory");
        }
        Folder folder = new Folder(directory, summaries);
        folder.chapters();
        return folder;
    }

    /** Makes the directory if need be, and sees to it that it can be written to before hours are spent. */
    public void make() throws IOException {
        Files.createDirectories(directory);
        Files.delete(Files.createTempFile(directory, "writable", ".tmp"));
    }

    /** Puts a scenario's results in the place of those of an earlier run, as {@code --json} prints them. */
    public void put(String scenario, Run run, List<String> results) throws IOException {
        replace(scenario + Chapter.ENDING, Chapter.text(run, results));
        write();
    }

    /** Writes everything anew that follows from the results. */
    public void write() throws IOException {
        List<Chapter> chapters = chapters();
        if (chapters.isEmpty()) {
            throw new IllegalArgumentException("there are no results yet: name what to run");
        }
        Set<String> charts = new HashSet<>();
        List<Readme.Section> sections = new ArrayList<>();
        for (Chapter chapter : chapters) {
            List<String> names = new ArrayList<>();
            for (Family family : Family.of(chapter)) {
                String name = unused(family.name(), charts);
                replace(name, family.chart());
                names.add(name);
            }
            sections.add(new Readme.Section(chapter, summaries.getOrDefault(chapter.scenario(), ""), names));
        }
        Path notes = directory.resolve(NOTES);
        replace(README, new Readme(sections, Files.exists(notes) ? Files.readString(notes) : "").text());
        removeChartsBut(charts);
    }

    private static String unused(String name, Set<String> used) {
        String candidate = name + ".svg";
        for (int i = 2; !used.add(candidate); i++) {
            candidate = name + "-" + i + ".svg";
        }
        return candidate;
    }

    private List<Chapter> chapters() throws IOException {
        List<Chapter> chapters = new ArrayList<>();
        for (Path file : files(Chapter.ENDING)) {
            chapters.add(Chapter.read(file));
        }
        chapters.sort(Comparator.comparingInt((Chapter chapter) -> place(chapter.scenario()))
                .thenComparing(Chapter::scenario));
        return chapters;
    }

    private int place(String scenario) {
        int place = order.indexOf(scenario);
        return place < 0 ? order.size() : place;
    }

    private List<Path> files(String ending) throws IOException {
        if (!Files.exists(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(ending)).toList();
        }
    }

    private void removeChartsBut(Set<String> charts) throws IOException {
        for (Path file : files(".svg")) {
            if (!charts.contains(file.getFileName().toString())
                    && Files.readString(file).contains(Svg.MARK)) {
                Files.delete(file);
            }
        }
    }

    private void replace(String name, String text) throws IOException {
        Path unfinished = directory.resolve(name + ".tmp");
        Files.writeString(unfinished, text);
        Files.move(unfinished, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
