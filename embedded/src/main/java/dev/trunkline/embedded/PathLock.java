package dev.trunkline.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A lock between processes and between threads, let go by the operating system when its process dies. */
final class PathLock implements AutoCloseable {
    // Closing any channel of a file drops every POSIX lock this process has on it: never open a file that is held here.
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final FileChannel channel;

    private PathLock(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    static Optional<PathLock> tryTake(Path file) {
        if (!HELD.add(file)) {
            return Optional.empty();
        }
        Optional<PathLock> taken = Optional.empty();
        try {
            taken = open(file);
            return taken;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            if (taken.isEmpty()) {
                HELD.remove(file);
            }
        }
    }

    private static Optional<PathLock> open(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock();
        if (lock == null) {
            channel.close();
            return Optional.empty();
        }
        return Optional.of(new PathLock(file, channel));
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            HELD.remove(file);
        }
    }
}
