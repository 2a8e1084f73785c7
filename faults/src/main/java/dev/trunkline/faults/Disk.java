package dev.trunkline.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A disk of its own: ext4 on a file, by a loop device. Its power can be cut, and it can be filled. */
final class Disk implements AutoCloseable {

    private static final int MEGABYTES = 600;
    private static final int SMALL = 8;
    /** EXT4_IOC_SHUTDOWN, without flushing even the journal: what was not synced is gone. */
    private static final String CUT =
            "open(F, '<', $ARGV[0]) or die $!; my $how = pack('L', 2); ioctl(F, 0x8004587d, $how) or die $!";

    private final Path directory;
    private final String name;
    private final Path mount;
    private int images;

    private Disk(Path directory, String name) throws IOException {
        this.directory = directory;
        this.name = name;
        this.mount = Files.createDirectories(directory.resolve(name));
    }

    /** What this machine lacks for it. */
    static Optional<String> lacks() {
        return Files.exists(Path.of("/dev/loop-control"))
                ? Shell.lacks("mkfs.ext4", "mount", "losetup", "perl", "fallocate")
                        .or(() -> Shell.fails(Disk::tryOut).map(why -> "the right to mount a loop device"))
                : Optional.of("loop devices");
    }

    /** Root may not mount in most containers. */
    private static void tryOut() throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("trunkline-disk-");
        try {
            create(directory, "disk", SMALL).close();
        } finally {
            Main.delete(directory);
        }
    }

    /** @param name of where it is mounted in the directory */
    static Disk create(Path directory, String name) throws IOException, InterruptedException {
        return create(directory, name, MEGABYTES);
    }

    private static Disk create(Path directory, String name, int megabytes) throws IOException, InterruptedException {
        Disk disk = new Disk(directory, name);
        Shell.run("fallocate", "-l", megabytes + "M", disk.image().toString());
        Shell.run("mkfs.ext4", "-q", "-F", "-m", "0", disk.image().toString());
        disk.mount();
        return disk;
    }

    Path path() {
        return mount;
    }

    private Path image() {
        return directory.resolve(name + "-" + images + ".image");
    }

    /** The device goes when nobody uses it. */
    private void mount() throws IOException, InterruptedException {
        String device = Shell.run("losetup", "--find", "--show", image().toString());
        try {
            Shell.run("mount", device, mount.toString());
        } finally {
            Shell.run("losetup", "--detach", device);
        }
    }

    /** From now on nothing reaches it, and what was not synced is lost. */
    void cutPower() throws IOException, InterruptedException {
        Shell.run("perl", "-e", CUT, mount.toString());
    }

    /**
     * As it comes back. Who still has a file open has it on what was cut off, whose device may write what it had in its cache at any time: so what
     * comes back is a copy of what had reached the disk.
     */
    void restorePower() throws IOException, InterruptedException {
        Shell.run("umount", "-l", mount.toString());
        Path before = image();
        images++;
        Shell.run("cp", "--sparse=always", before.toString(), image().toString());
        Files.delete(before);
        mount();
    }

    /** Leaves no room on it. */
    void fill() throws IOException {
        long room = Files.getFileStore(mount).getUsableSpace();
        try {
            Shell.run("fallocate", "-l", "" + room, ballast().toString());
        } catch (IOException | InterruptedException e) {
            // Somebody was quicker to take the last of it, or the last of it is not to be had: it is full either way.
            if (Files.getFileStore(mount).getUsableSpace() > room / 2) {
                throw new IOException("could not fill the disk", e);
            }
        }
    }

    void empty() throws IOException {
        Files.deleteIfExists(ballast());
    }

    private Path ballast() {
        return mount.resolve("ballast");
    }

    @Override
    public void close() {
        try {
            Shell.run("umount", "-l", mount.toString());
            Files.delete(image());
        } catch (IOException e) {
            System.err.println("the disk at " + mount + " was not taken away: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
