package dev.trunkline.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Directories of this user. */
final class Places {
    static final Set<PosixFilePermission> READABLE = PosixFilePermissions.fromString("rwxr-xr-x");
    static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rw-------");

    private Places() {}

    static Path cache() throws IOException {
        String configured = System.getenv("XDG_CACHE_HOME");
        Path cache = configured != null && Path.of(configured).isAbsolute()
                ? Path.of(configured)
                : Path.of(System.getProperty("user.home"), ".cache");
        return Files.createDirectories(cache.resolve("trunkline"));
    }

    /** A directory below the temporary one, which everyone may write to: one that somebody else laid there is refused. */
    static Path temporary() throws IOException {
        String user = System.getProperty("user.name");
        Path directory = Path.of(System.getProperty("java.io.tmpdir"), "trunkline-" + user);
        Files.createDirectories(directory);
        if (Files.isSymbolicLink(directory)
                || (posix(directory) && !Files.getOwner(directory).getName().equals(user))) {
            throw new IOException(
                    directory + " belongs to somebody else; set java.io.tmpdir to a directory of your own");
        }
        permit(directory, READABLE);
        return directory.toRealPath();
    }

    static void permit(Path path, Set<PosixFilePermission> permissions) throws IOException {
        if (posix(path)) {
            Files.setPosixFilePermissions(path, permissions);
        }
    }

    private static boolean posix(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    static void delete(Path tree) {
        if (!Files.exists(tree)) {
            return;
        }
        try {
            Files.walkFileTree(tree, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) throws IOException {
                    Files.deleteIfExists(directory);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + tree, e);
        }
    }
}
