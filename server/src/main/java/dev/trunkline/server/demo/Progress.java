package dev.trunkline.server.demo;

import static dev.trunkline.server.demo.Proof.number;

import java.io.PrintWriter;
import java.time.Duration;

/** One line that is written again and again on a terminal; elsewhere a line every now and then. */
final class Progress {

    private final PrintWriter out;
    private final boolean terminal;
    private final Tally tally;
    private long lastRead;
    private long lastTime;

    Progress(PrintWriter out, boolean terminal, Tally tally) {
        this.out = out;
        this.terminal = terminal;
        this.tally = tally;
    }

    /** How often to show it. */
    Duration interval() {
        return terminal ? Duration.ofMillis(500) : Duration.ofSeconds(2);
    }

    void show() {
        long time = tally.now();
        long read = tally.read.sum();
        long rate = (read - lastRead) * 1_000_000_000L / Math.max(1, time - lastTime);
        String line = "%3d s   published %-10s read %-10s %6s msg/s   waiting %s"
                .formatted(
                        tally.seconds(),
                        number(tally.published.sum()),
                        number(read),
                        number(rate),
                        number(tally.waiting()));
        lastRead = read;
        lastTime = time;
        if (terminal) {
            out.printf("\r%-78s", line);
            out.flush();
        } else {
            out.println(line);
        }
    }

    /** The last line, with the rate over all, stays. */
    void end() {
        lastRead = 0;
        lastTime = 0;
        show();
        if (terminal) {
            out.println();
        }
    }
}
