package dev.trunkline.benchmarks;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A line on the standard error that says what goes on and how far all is, if somebody sees it. */
final class Progress {

    private static final String CLEAR = "\r\u001b[K";
    private static final Pattern TURN = Pattern.compile("\\b(\\d+) of (\\d+)\\b");
    private static final int BAR = 24;
    /** One that wraps could not be cleared. */
    private static final int WIDEST = 79;

    private final PrintStream out;
    private final boolean seen;
    private final int scenarios;
    private final long began = System.nanoTime();
    private int begun;
    private String scenario = "";
    private double ofScenario;

    Progress(PrintStream out, boolean seen, int scenarios) {
        this.out = out;
        this.seen = seen;
        this.scenarios = scenarios;
    }

    static Progress onTerminal(int scenarios) {
        return new Progress(System.err, isTerminal(), scenarios);
    }

    void begin(String name) {
        scenario = name;
        ofScenario = 0;
        begun++;
        say(name + ": making room");
    }

    /** What goes on, as {@code scenario: what}; {@code 2 of 5} in it tells how far that is. */
    void say(String what) {
        ofScenario = Math.max(ofScenario, part(what));
        if (seen) {
            int colon = what.indexOf(": ");
            String name = colon < 0 ? scenario : what.substring(0, colon);
            Duration elapsed = Duration.ofNanos(System.nanoTime() - began);
            out.print(CLEAR + line(name, done(), what.substring(colon < 0 ? 0 : colon + 2), elapsed));
            out.flush();
        }
    }

    void clear() {
        if (seen) {
            out.print(CLEAR);
            out.flush();
        }
    }

    private OptionalDouble done() {
        double done = (begun - 1 + ofScenario) / scenarios;
        return done > 0 ? OptionalDouble.of(done) : OptionalDouble.empty();
    }

    /** What is over of a scenario when the second of five turns begins: a fifth. */
    static double part(String what) {
        Matcher turn = TURN.matcher(what);
        return turn.find()
                ? Math.clamp((Double.parseDouble(turn.group(1)) - 1) / Double.parseDouble(turn.group(2)), 0.0, 1.0)
                : 0;
    }

    static String line(String name, OptionalDouble done, String what, Duration elapsed) {
        int full = (int) (done.orElse(0) * BAR);
        String line = String.format(
                Locale.ROOT,
                "%s [%s%s] %s%d:%02d  %s",
                name,
                "#".repeat(full),
                ".".repeat(BAR - full),
                done.isPresent() ? (int) (done.getAsDouble() * 100) + " %  " : "",
                elapsed.toMinutes(),
                elapsed.toSecondsPart(),
                what);
        return line.substring(0, Math.min(line.length(), WIDEST));
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
