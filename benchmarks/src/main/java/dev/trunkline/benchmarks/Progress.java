package dev.trunkline.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

/** A line on the standard error that says what goes on, if somebody sees it. */
final class Progress {

    private static final String CLEAR = "\r\u001b[K";

    private Progress() {}

    static Consumer<String> onTerminal() {
        return isTerminal() ? what -> System.err.print(CLEAR + what) : what -> {};
    }

    static void clear() {
        if (isTerminal()) {
            System.err.print(CLEAR);
        }
    }

    /** {@link System#console} tells of the standard output, which may well be a file. */
    private static boolean isTerminal() {
        try {
            String target = Path.of("/dev/stderr").toRealPath().toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }
}
