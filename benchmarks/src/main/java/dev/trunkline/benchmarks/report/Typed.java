package dev.trunkline.benchmarks.report;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;

/** A command as it was typed, but for what should be in no report: where somebody's database and directories are. */
public final class Typed {

    private static final String LEFT_OUT = "…";
    private static final Set<String> PRIVATE = Set.of("--url", "--user", "--password");
    private static final String REPORT = "--report";

    private Typed() {}

    public static String command(List<String> arguments) {
        StringJoiner command = new StringJoiner(" ", "./trunkline bench ", "");
        String option = "";
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            if (equals > 0 && argument.startsWith("--")) {
                String name = argument.substring(0, equals);
                command.add(name + "=" + value(name, argument.substring(equals + 1)));
            } else {
                command.add(value(option, argument));
            }
            option = argument;
        }
        return command.toString();
    }

    private static String value(String option, String value) {
        if (PRIVATE.contains(option) || (option.equals(REPORT) && Path.of(value).isAbsolute())) {
            return LEFT_OUT;
        }
        return value.matches("[\\w./,:=+-]+") ? value : "'" + value.replace("'", "'\\''") + "'";
    }
}
