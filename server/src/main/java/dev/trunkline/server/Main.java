package dev.trunkline.server;

import dev.trunkline.server.demo.DemoCommand;
import dev.trunkline.server.demo.MemberCommand;
import dev.trunkline.server.doctor.DoctorCommand;
import dev.trunkline.server.groups.AuditCommand;
import dev.trunkline.server.groups.DeadLettersCommand;
import dev.trunkline.server.groups.ExplainCommand;
import dev.trunkline.server.groups.GroupsCommand;
import dev.trunkline.server.groups.LagCommand;
import dev.trunkline.server.groups.RedriveCommand;
import dev.trunkline.server.groups.SeekCommand;
import dev.trunkline.server.keys.KeysCommand;
import dev.trunkline.server.topics.TopicsCommand;
import dev.trunkline.server.verify.VerifyCommand;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.TypeConversionException;

/** The command line: {@code trunkline COMMAND}. Exits with 0 if all went well, 2 if it was called wrongly, else 1. */
@Command(
        name = "trunkline",
        description = "Durable messaging inside PostgreSQL.",
        scope = ScopeType.INHERIT,
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        subcommands = {
            DemoCommand.class,
            MemberCommand.class,
            SchemaCommand.class,
            MigrateCommand.class,
            ServeCommand.class,
            TopicsCommand.class,
            PublishCommand.class,
            TailCommand.class,
            ConsumeCommand.class,
            GroupsCommand.class,
            LagCommand.class,
            SeekCommand.class,
            DeadLettersCommand.class,
            RedriveCommand.class,
            ExplainCommand.class,
            AuditCommand.class,
            DoctorCommand.class,
            VerifyCommand.class,
            KeysCommand.class,
            CompletionCommand.class
        })
public final class Main {

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Show stack traces of errors.")
    boolean debug;

    final Terminal terminal;

    Main(Terminal terminal) {
        this.terminal = terminal;
    }

    public static void main(String[] arguments) {
        // Newer JDKs have a console even where there is no terminal, unless told otherwise.
        System.setProperty("jdk.console", "java.base");
        if (!Logs.choose()) {
            System.exit(ExitCode.USAGE);
        }
        if (!isReadable(arguments)) {
            System.exit(ExitCode.USAGE);
        }
        System.exit(commandLine(Terminal.ofProcess()).execute(arguments));
    }

    /** What the locale has no characters for, the JVM has replaced by others. */
    private static boolean isReadable(String[] arguments) {
        String encoding = System.getProperty("sun.jnu.encoding", "UTF-8");
        if (encoding.equalsIgnoreCase("UTF-8") || Stream.of(arguments).noneMatch(each -> each.contains("\uFFFD"))) {
            return true;
        }
        System.err.println("trunkline: an argument has characters that this locale (" + encoding
                + ") does not know: set LC_ALL=C.UTF-8, or another locale with UTF-8");
        return false;
    }

    static CommandLine commandLine(Terminal terminal) {
        Main main = new Main(terminal);
        OneLineErrors errors = new OneLineErrors(() -> main.debug);
        return new CommandLine(main)
                .addSubcommand(LauncherCommand.of("bench", "Measure."))
                .addSubcommand(LauncherCommand.of("faults", "Do bad things to it."))
                .registerConverter(Duration.class, Main::duration)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setAbbreviatedOptionsAllowed(false)
                // A payload that begins with @ is a payload, not the name of a file with arguments.
                .setExpandAtFiles(false)
                .setExecutionStrategy(Main::execute)
                .setParameterExceptionHandler(errors)
                .setExecutionExceptionHandler(errors);
    }

    /** An option that a command has itself and its subcommand does not look at would be passed over without a word: it is refused. */
    private static int execute(ParseResult parsed) {
        for (ParseResult each = parsed; each.hasSubcommand(); each = each.subcommand()) {
            String subcommand = each.subcommand().commandSpec().name();
            for (OptionSpec option : each.matchedOptions()) {
                if (option.scopeType() != ScopeType.INHERIT && !option.usageHelp() && !option.versionHelp()) {
                    throw new ParameterException(
                            each.subcommand().commandSpec().commandLine(),
                            option.longestName() + " is of no use before " + subcommand + ": give it after "
                                    + subcommand);
                }
            }
        }
        return new RunLast().execute(parsed);
    }

    private static Duration duration(String text) {
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException e) {
            throw new TypeConversionException("\"" + text + "\" is no duration: write it as PT5S, PT1H30M or P7D");
        }
    }
}
