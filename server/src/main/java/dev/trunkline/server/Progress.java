package dev.trunkline.server;

import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Model.CommandSpec;

/** How far long work is: one line of a terminal, written over and over. Where there is none, nothing. */
public final class Progress implements AutoCloseable {

    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(100);
    private static final String CLEAR = "\r\033[K";

    private final PrintWriter err;
    private final Terminal terminal;
    private long next = System.nanoTime();

    public Progress(CommandSpec command) {
        this.err = command.commandLine().getErr();
        this.terminal = Terminal.of(command);
    }

    /** Shows a line, unless another was shown just now. */
    public void show(String line) {
        if (terminal.progress() && System.nanoTime() - next >= 0) {
            // In the last column the cursor may be on the next line already.
            err.print(CLEAR + Columns.cut(line, terminal.columns().getAsInt() - 1));
            err.flush();
            next = System.nanoTime() + PAUSE;
        }
    }

    /** Makes room for something that stays. */
    public void clear() {
        if (terminal.progress()) {
            err.print(CLEAR);
            err.flush();
        }
    }

    @Override
    public void close() {
        clear();
    }
}
