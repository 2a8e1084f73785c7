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
import dev.trunkline.server.topics.TopicsCommand;
import dev.trunkline.server.verify.VerifyCommand;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
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
        System.exit(commandLine(Terminal.ofProcess()).execute(arguments));
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
                .setParameterExceptionHandler(errors)
                .setExecutionExceptionHandler(errors);
    }

    private static Duration duration(String text) {
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException e) {
            throw new TypeConversionException("\"" + text + "\" is no duration: write it as PT5S, PT1H30M or P7D");
        }
    }
}
