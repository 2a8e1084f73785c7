package dev.trunkline.server.demo;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.trunkline.Trunkline;
import dev.trunkline.server.Interrupts;
import dev.trunkline.server.Output;
import dev.trunkline.server.Terminal;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code trunkline demo}. */
@Command(
        name = "demo",
        description = {
            "Three groups in two processes handle orders, one process is killed; then prove that nothing was lost or out of order.",
            "Runs on a temporary PostgreSQL of its own, unless told where; Ctrl-C ends it early, with the proof."
        })
public final class DemoCommand implements Callable<Integer> {

    private static final int MOST_SECONDS = 600;

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

    @Option(names = "--json", description = "Print the proof as JSON, and what happens meanwhile to standard error.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        if (seconds < 1 || seconds > MOST_SECONDS) {
            throw new ParameterException(
                    command.commandLine(), "--seconds is " + seconds + ": use 1 to " + MOST_SECONDS);
        }
        if (data != null && url != null) {
            throw new ParameterException(command.commandLine(), "--data and --url are two databases: give one of them");
        }
        PrintWriter out =
                json ? command.commandLine().getErr() : command.commandLine().getOut();
        try (Interrupts interrupts = new Interrupts();
                Place place = place()) {
            out.println("Demo on " + place + ": " + seconds + " seconds, Ctrl-C ends it early");
            out.println("Look at it meanwhile: " + place.access() + " ./trunkline groups");
            return run(place, interrupts.stop(), out);
        }
    }

    private Place place() {
        if (url != null) {
            return Place.given(url, user, password);
        }
        return data == null ? Place.temporary() : Place.at(data);
    }

    private int run(Place place, CountDownLatch stop, PrintWriter out) throws Exception {
        // What the groups warn of is the demo's own doing, and told by its proof.
        ((Logger) LoggerFactory.getLogger("dev.trunkline.consume")).setLevel(Level.OFF);
        try (Trunkline trunkline =
                place.address().installation().lease(Members.LEASE).open()) {
            place.execute("createOrders");
            Path notes = Files.createTempDirectory("trunkline-demo-");
            out.println("What the handlers do is noted in " + notes);
            Books books = new Books(place.address(), trunkline.codec());
            Terminal terminal = Terminal.of(command);
            Board board = new Board(out, json ? terminal.progress() : terminal.redrawn(), terminal.columns());
            Demo demo = new Demo(place.address(), trunkline, notes, books, board, stop);
            List<Proof.Line> proof = Proof.of(demo.run(Duration.ofSeconds(seconds)));
            long wrong = proof.stream().filter(line -> !line.holds()).count();
            if (json) {
                command.commandLine().getOut().println(Output.json(Proof.fields(proof)));
            }
            out.println("Proof, from what the publishers know and what the handlers noted:");
            proof.forEach(line -> out.print(line.text()));
            if (wrong > 0) {
                out.println(wrong + " of " + proof.size() + " lines are wrong; the notes stay in " + notes);
                return 1;
            }
            Notes.delete(notes);
            out.println("All " + proof.size() + " lines hold.");
            return 0;
        }
    }
}
