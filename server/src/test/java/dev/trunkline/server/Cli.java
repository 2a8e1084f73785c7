package dev.trunkline.server;

import dev.trunkline.embedded.EmbeddedPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine;

/** Runs commands in this JVM, and has a real PostgreSQL for them. */
public final class Cli {

    private static final AtomicInteger DATABASES = new AtomicInteger();

    private Cli() {}

    /** What a command left behind. */
    public record Result(int code, String out, String err) {}

    private static final class Server {
        static final EmbeddedPostgres POSTGRES =
                EmbeddedPostgres.temporary().unsafeFast().start();
    }

    public static EmbeddedPostgres postgres() {
        return Server.POSTGRES;
    }

    /** The name of a fresh, empty database. */
    public static String freshDatabase() {
        String name = "cli_" + DATABASES.incrementAndGet();
        postgres().createDatabase(name);
        return name;
    }

    public static Result run(String... arguments) {
        return run(new StringWriter(), arguments);
    }

    /** Runs a command whose output can be watched meanwhile. */
    public static Result run(StringWriter out, String... arguments) {
        return run(Terminal.NONE, out, arguments);
    }

    /** As if its output went to this terminal. */
    static Result run(Terminal terminal, StringWriter out, String... arguments) {
        StringWriter err = new StringWriter();
        CommandLine line =
                Main.commandLine(terminal).setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        int code = line.execute(arguments);
        return new Result(code, out.toString(), err.toString());
    }

    /** Runs a command on a database of {@link #postgres}. */
    public static Result on(String database, String... arguments) {
        return run(at(database, arguments));
    }

    /** A command with where that database is. */
    static String[] at(String database, String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--url", postgres().jdbcUrl(database)));
        all.addAll(List.of("--user", postgres().user(), "--password", postgres().password()));
        return all.toArray(String[]::new);
    }
}
