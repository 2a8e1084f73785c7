package dev.trunkline.server;

import java.util.List;
import java.util.Locale;

/** How this process logs: see {@code logback.xml}. */
final class Logs {

    private static final String VARIABLE = "TRUNKLINE_LOG";
    private static final List<String> FORMATS = List.of("text", "json");

    private Logs() {}

    /** Says it to Logback, which is to be asked after that and would log nothing in a format that there is not. False: it is none. */
    static boolean choose() {
        String wish = System.getenv(VARIABLE);
        String format = wish == null || wish.isBlank() ? "text" : wish.strip().toLowerCase(Locale.ROOT);
        if (!FORMATS.contains(format)) {
            System.err.println("trunkline: " + VARIABLE + " is \"" + wish + "\": use text or json");
            return false;
        }
        System.setProperty(VARIABLE, format);
        return true;
    }
}
