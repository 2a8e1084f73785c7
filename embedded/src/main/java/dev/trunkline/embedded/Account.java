package dev.trunkline.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** As whom PostgreSQL runs: it refuses root, so root has to become someone else. */
enum Account {
    /** As the user of this JVM. */
    SELF("", -1),
    /** As root, in a user namespace that does not know it as root. */
    USER_NAMESPACE("unshare -U --", 0),
    /** As nobody, who must own the data. */
    NOBODY("setpriv --reuid=65534 --regid=65534 --clear-groups --", 65534);

    private static final Duration PROBE_LIMIT = Duration.ofSeconds(10);

    private final String prefix;
    private final int owner;

    Account(String prefix, int owner) {
        this.prefix = prefix;
        this.owner = owner;
    }

    /** What a command line has to begin with. */
    List<String> prefix() {
        return prefix.isEmpty() ? List.of() : List.of(prefix.split(" ", -1));
    }

    static Account detect() {
        if (!System.getProperty("user.name").equals("root")) {
            return SELF;
        }
        return Stream.of(USER_NAMESPACE, NOBODY)
                .filter(Account::works)
                .findFirst()
                .orElseThrow(() -> new EmbeddedPostgresException(
                        "PostgreSQL refuses to run as root, and neither 'unshare -U' nor 'setpriv' works here: "
                                + "run as an ordinary user, or install util-linux"));
    }

    private boolean works() {
        try {
            Command.Result id = Command.of(prefix(), Path.of("id"), "-u").run(Path.of("/"), PROBE_LIMIT);
            return id.ok() && !id.output().strip().equals("0");
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    /** Hands over a directory and all that is in it. */
    void own(Path tree) throws IOException {
        if (this == SELF) {
            return;
        }
        try (Stream<Path> paths = Files.walk(tree)) {
            for (Path path : (Iterable<Path>) paths::iterator) {
                if (!Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                        .equals(owner)) {
                    Files.setAttribute(path, "unix:uid", owner, LinkOption.NOFOLLOW_LINKS);
                }
            }
        }
        if (!Command.of(prefix(), Path.of("test"), "-w", tree.toString())
                .run(Path.of("/"), PROBE_LIMIT)
                .ok()) {
            throw new EmbeddedPostgresException("PostgreSQL refuses to run as root and runs as user " + owner
                    + " instead, who cannot reach " + tree + ": choose a directory that others may enter");
        }
    }
}
