package dev.trunkline.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import tools.jackson.core.JacksonException;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Options of a command in a YAML file, by their names. What is given on the command line or in the environment wins. */
final class ConfigFile {

    private static final YAMLMapper YAML = new YAMLMapper();

    private ConfigFile() {}

    /** Parses the command line once more, with what the file says before it. */
    static void apply(CommandSpec command, Path file) {
        ParseResult given = command.commandLine().getParseResult();
        List<String> arguments = new ArrayList<>();
        for (OptionSpec option : given.matchedOptions()) {
            option.originalStringValues().forEach(value -> arguments.add(option.longestName() + "=" + value));
        }
        read(command, file).forEach((key, value) -> {
            String name = String.valueOf(key);
            String option = "--" + name;
            if (!command.optionsMap().containsKey(option) || option.equals("--config")) {
                throw new ParameterException(
                        command.commandLine(),
                        file + ": there is no setting \"" + name + "\"; see --help for the names");
            }
            if (value == null || value instanceof Map || value instanceof List) {
                throw new ParameterException(command.commandLine(), file + ": \"" + name + "\" is a text or a number");
            }
            if (!given.hasMatchedOption(option) && System.getenv(variable(name)) == null) {
                arguments.add(option + "=" + value);
            }
        });
        command.commandLine().parseArgs(arguments.toArray(String[]::new));
    }

    private static String variable(String name) {
        return "TRUNKLINE_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    private static Map<?, ?> read(CommandSpec command, Path file) {
        try {
            Map<?, ?> read = YAML.readValue(Files.readString(file), Map.class);
            return read == null ? Map.of() : read;
        } catch (IOException e) {
            throw new ParameterException(command.commandLine(), "--config " + file + " can not be read");
        } catch (JacksonException e) {
            throw new ParameterException(
                    command.commandLine(), file + " is no YAML of names and values: " + e.getOriginalMessage());
        }
    }
}
