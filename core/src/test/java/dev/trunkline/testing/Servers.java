package dev.trunkline.testing;

import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.EmbeddedPostgresBuilder;
import java.nio.file.Files;
import java.nio.file.Path;

/** PostgreSQL servers of the versions that the build has copied. */
public final class Servers {

    public static final int NEWEST = 18;

    private Servers() {}

    /** A server of this major version, to be started. Fails where the build has not copied it. */
    public static EmbeddedPostgresBuilder quick(int major) {
        EmbeddedPostgresBuilder builder = EmbeddedPostgres.temporary().unsafeFast();
        return major == NEWEST ? builder : builder.binaries(binaries(major));
    }

    private static Path binaries(int major) {
        Path jar = Path.of("target", "postgres", major + ".jar");
        if (!Files.exists(jar)) {
            throw new IllegalStateException("no " + jar.toAbsolutePath() + ": the build copies it");
        }
        return jar;
    }
}
