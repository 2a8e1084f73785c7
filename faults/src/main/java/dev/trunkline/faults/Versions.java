package dev.trunkline.faults;

import dev.trunkline.embedded.EmbeddedPostgresBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;

/** The versions of PostgreSQL that trials can take place on. The older ones lie in this jar. */
final class Versions {

    static final int NEWEST = 18;
    static final List<Integer> ALL = List.of(15, 16, 17, NEWEST);

    private Versions() {}

    /** @param directory where there is room for a file */
    static EmbeddedPostgresBuilder on(int major, EmbeddedPostgresBuilder builder, Path directory) {
        if (major == NEWEST) {
            return builder;
        }
        Path jar = directory.resolve("postgres-" + major + ".jar");
        String name = "/postgres/" + major + ".jar";
        try (InputStream in = Versions.class.getResourceAsStream(name)) {
            Files.copy(Objects.requireNonNull(in, name), jar, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return builder.binaries(jar);
    }
}
