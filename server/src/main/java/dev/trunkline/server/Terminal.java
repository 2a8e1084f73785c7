package dev.trunkline.server;

import java.util.function.IntSupplier;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * What a command writes to. People at a terminal get what fits into it, in colour; programs get all of it, plain.
 *
 * @param present whether there is one
 * @param coloured whether it shows colours, and nobody has asked for none (NO_COLOR)
 * @param redrawn whether what stands there can be written over
 * @param progress whether that is so of standard error
 * @param columns how wide it is
 */
public record Terminal(boolean present, boolean coloured, boolean redrawn, boolean progress, IntSupplier columns) {

    /** No terminal: a file, or another program. */
    public static final Terminal NONE = new Terminal(false, false, () -> Integer.MAX_VALUE);

    private static final String RED = "31";
    private static final String GREEN = "32";
    private static final String YELLOW = "33";
    private static final String BOLD = "1";

    /** One that both outputs go to. */
    Terminal(boolean present, boolean coloured, IntSupplier columns) {
        this(present, coloured, present, present, columns);
    }

    /** That of this process. Of standard error only the launcher knows. */
    @SuppressWarnings("SystemConsoleNull") // it does in newer JDKs too: Main asks for it
    static Terminal ofProcess() {
        boolean present = System.console() != null;
        boolean dumb = "dumb".equals(System.getenv("TERM"));
        String error = System.getenv("TRUNKLINE_STDERR");
        boolean progress = error == null ? present : error.equals("terminal");
        return new Terminal(
                present,
                present && !dumb && Ansi.AUTO.enabled(),
                present && !dumb,
                progress && !dumb,
                () -> new UsageMessageSpec().autoWidth(true).width());
    }

    /** That of a command. */
    public static Terminal of(CommandSpec command) {
        return command.root().userObject() instanceof Main main ? main.terminal : NONE;
    }

    public String red(String text) {
        return styled(RED, text);
    }

    public String green(String text) {
        return styled(GREEN, text);
    }

    public String yellow(String text) {
        return styled(YELLOW, text);
    }

    public String bold(String text) {
        return styled(BOLD, text);
    }

    private String styled(String style, String text) {
        return coloured ? "\033[" + style + "m" + text + "\033[0m" : text;
    }
}
