package dev.trunkline.server.demo;

import dev.trunkline.Trunkline;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code trunkline demo}. */
@Command(
        name = "demo",
        description = {
            "Publish and read orders for a while, then prove that none was lost, doubled or out of order.",
            "Runs on a temporary PostgreSQL of its own, unless told where; Ctrl-C ends it early, with the proof."
        })
public final class DemoCommand implements Callable<Integer> {

    private static final int MOST_SECONDS = 600;
    private static final Duration PATIENCE_AFTER_CTRL_C = Duration.ofSeconds(60);

    @Spec
    CommandSpec command = CommandSpec.create();

    @Option(names = "--seconds", defaultValue = "20", description = "1 to 600; ${DEFAULT-VALUE} by default.")
    int seconds = 20;

    @Option(names = "--data", paramLabel = "DIR", description = "Keep PostgreSQL's data there.")
    @Nullable
    Path data;

    @Option(names = "--url", paramLabel = "JDBC", description = "Use this database, in a schema made for this run.")
    @Nullable
    String url;

    @Option(names = "--user", defaultValue = "${env:TRUNKLINE_USER}", description = "Its user. Or TRUNKLINE_USER.")
    @Nullable
    String user;

    @Option(
            names = "--password",
            defaultValue = "${env:TRUNKLINE_PASSWORD}",
            description = "The user's password. Or TRUNKLINE_PASSWORD.")
    @Nullable
    String password;

    @Override
    public Integer call() throws SQLException, InterruptedException, ExecutionException {
        if (seconds < 1 || seconds > MOST_SECONDS) {
            throw new ParameterException(
                    command.commandLine(), "--seconds is " + seconds + ": use 1 to " + MOST_SECONDS);
        }
        if (data != null && url != null) {
            throw new ParameterException(command.commandLine(), "--data and --url are two databases: give one of them");
        }
        PrintWriter out = command.commandLine().getOut();
        try (Interrupts interrupts = new Interrupts(PATIENCE_AFTER_CTRL_C);
                Place place = place()) {
            out.println("Demo on " + place + ": " + seconds + " seconds, Ctrl-C ends it early");
            return conclude(out, run(place, interrupts.stop(), out));
        }
    }

    private Place place() {
        if (url != null) {
            return Place.given(url, user, password);
        }
        return data == null ? Place.temporary() : Place.at(data);
    }

    private List<Proof.Line> run(Place place, CountDownLatch stop, PrintWriter out)
            throws SQLException, InterruptedException, ExecutionException {
        try (Trunkline trunkline = place.address().installation().open()) {
            Demo demo = new Demo(place, trunkline, stop, tally -> new Progress(out, isTerminal(), tally));
            return Proof.of(demo.run(Duration.ofSeconds(seconds)));
        }
    }

    @SuppressWarnings("SystemConsoleNull") // it does in newer JDKs too: Main asks for it
    private static boolean isTerminal() {
        return System.console() != null;
    }

    private static int conclude(PrintWriter out, List<Proof.Line> proof) {
        long wrong = proof.stream().filter(line -> !line.holds()).count();
        out.println("Proof, from what the writers know and what was read from the log:");
        out.print(Proof.text(proof));
        out.println(
                wrong == 0
                        ? "All " + proof.size() + " lines hold."
                        : wrong + " of " + proof.size() + " lines are wrong.");
        return wrong == 0 ? 0 : 1;
    }
}
