package dev.trunkline.benchmarks.report;

import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** A library that figures depend on, and the properties that tell its version: a manifest does not survive one jar for all. */
record Library(String name, String properties) {

    private static final List<Library> KNOWN = List.of(
            maven("Trunkline", "dev.trunkline", "trunkline-core"),
            maven("HikariCP", "com.zaxxer", "HikariCP"),
            new Library("kafka-clients", "kafka/kafka-version.properties"),
            maven("Artemis", "org.apache.artemis", "artemis-server"),
            maven("db-scheduler", "com.github.kagkarlsson", "db-scheduler"));

    private static Library maven(String name, String group, String artifact) {
        return new Library(name, "META-INF/maven/" + group + "/" + artifact + "/pom.properties");
    }

    /** Of those on the class path that tell. */
    static Map<String, String> versions() throws IOException {
        Map<String, String> versions = new LinkedHashMap<>();
        for (Library library : KNOWN) {
            String version = library.version();
            if (!version.isEmpty()) {
                versions.put(library.name(), version);
            }
        }
        return versions;
    }

    private String version() throws IOException {
        try (InputStream in = Library.class.getResourceAsStream("/" + properties)) {
            Properties told = new Properties();
            if (in != null) {
                told.load(in);
            }
            return told.getProperty("version", "");
        }
    }
}
