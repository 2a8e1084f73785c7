package dev.trunkline.server;

import dev.trunkline.InvalidMessageException;
import dev.trunkline.InvalidTopicException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.BooleanSupplier;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** What is wrong and what to do, on one line; the stack trace only if asked for. */
final class OneLineErrors implements IExecutionExceptionHandler, IParameterExceptionHandler {

    private final BooleanSupplier debug;

    OneLineErrors(BooleanSupplier debug) {
        this.debug = debug;
    }

    @Override
    public int handleExecutionException(Exception e, CommandLine command, ParseResult parsed) {
        print(command.getErr(), e, text(e));
        return isAboutValue(e) ? ExitCode.USAGE : ExitCode.SOFTWARE;
    }

    /** Some values are known to be wrong only when they are used. */
    private static boolean isAboutValue(Exception e) {
        return e instanceof IllegalArgumentException
                || e instanceof InvalidTopicException
                || e instanceof InvalidMessageException;
    }

    @Override
    public int handleParseException(ParameterException e, String[] arguments) {
        CommandLine command = e.getCommandLine();
        String help = command.getCommandSpec().qualifiedName() + " --help";
        print(command.getErr(), e, text(e) + " (see: " + help + ")");
        return ExitCode.USAGE;
    }

    private void print(PrintWriter err, Exception e, String line) {
        err.println("trunkline: " + Output.printable(Address.masked(line)));
        if (debug.getAsBoolean()) {
            StringWriter trace = new StringWriter();
            e.printStackTrace(new PrintWriter(trace, true));
            err.print(Address.masked(trace.toString()));
        }
        err.flush();
    }

    private static String text(Exception e) {
        String message = e.getMessage() == null ? e.toString() : e.getMessage();
        return message.strip().replaceAll("\\s*\\R\\s*", "; ");
    }
}
