package dev.trunkline.server;

import dev.trunkline.server.demo.DemoCommand;
import dev.trunkline.server.demo.MemberCommand;
import dev.trunkline.server.groups.AuditCommand;
import dev.trunkline.server.groups.ExplainCommand;
import dev.trunkline.server.groups.GroupsCommand;
import dev.trunkline.server.groups.SeekCommand;
import dev.trunkline.server.topics.TopicsCommand;
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
            GroupsCommand.class,
            SeekCommand.class,
            ExplainCommand.class,
            AuditCommand.class,
            BenchCommand.class
        })
public final class Main {

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Show stack traces of errors.")
    boolean debug;

    public static void main(String[] arguments) {
        // Newer JDKs have a console even where there is no terminal, unless told otherwise.
        System.setProperty("jdk.console", "java.base");
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        Main main = new Main();
        OneLineErrors errors = new OneLineErrors(() -> main.debug);
        return new CommandLine(main)
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
