package dev.trunkline.server;

import java.util.List;
import java.util.Locale;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** How this process logs: see {@code logback.xml}. */
final class Logs {

    private static final List<String> FORMATS = List.of("text", "json");
    private static final List<String> LEVELS = List.of("off", "error", "warn", "warning", "info", "debug", "trace");

    /** Kept, or what is set is forgotten. The driver logs parts of a URL that it can not parse; what it fails at, it also throws. */
    private static final Logger DRIVER = Logger.getLogger("org.postgresql");

    private Logs() {}

    /** Says it to Logback, which is to be asked after that: it would log nothing in a format that there is not, and everything at a level that there is not. */
    static boolean choose() {
        DRIVER.setLevel(Level.OFF);
        String format = choice("TRUNKLINE_LOG", "text", FORMATS);
        String level = choice("TRUNKLINE_LOG_LEVEL", "warn", LEVELS);
        if (format == null || level == null) {
            return false;
        }
        System.setProperty("TRUNKLINE_LOG", format);
        System.setProperty("TRUNKLINE_LOG_LEVEL", level.equals("warning") ? "warn" : level);
        return true;
    }

    /** Null: it is none of them, and this is said. */
    private static @Nullable String choice(String variable, String otherwise, List<String> choices) {
        String wish = System.getenv(variable);
        String chosen =
                wish == null || wish.isBlank() ? otherwise : wish.strip().toLowerCase(Locale.ROOT);
        if (choices.contains(chosen)) {
            return chosen;
        }
        System.err.println("trunkline: " + variable + " is \"" + wish + "\": use "
                + String.join(", ", choices.subList(0, choices.size() - 1)) + " or " + choices.getLast());
        return null;
    }
}
