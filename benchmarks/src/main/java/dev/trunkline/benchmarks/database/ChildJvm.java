package dev.trunkline.benchmarks.database;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Another JVM like this one: the same Java, the same classes. */
public final class ChildJvm {

    private ChildJvm() {}

    /** What starts a program in it; arguments may be added to its command. */
    public static ProcessBuilder of(Class<?> main, String... options) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        return new ProcessBuilder(command);
    }
}
