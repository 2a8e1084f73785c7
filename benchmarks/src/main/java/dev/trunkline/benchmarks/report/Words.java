package dev.trunkline.benchmarks.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import java.util.regex.Pattern;

/** Figures and names as people read them. */
final class Words {

    private static final Pattern HUMP = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])");
    private static final int MOST = 300;

    private Words() {}

    /** Three digits, four of large numbers. */
    static String number(double value) {
        if (!Double.isFinite(value)) {
            return "–";
        }
        double size = Math.abs(value);
        if (size >= 1e15 || (size > 0 && size < 0.0005)) {
            return String.format(Locale.ROOT, "%.2e", value);
        }
        BigDecimal shown = new BigDecimal(value).round(new MathContext(size >= 1000 ? 4 : 3));
        int decimals = value == Math.rint(value) ? 0 : Math.max(0, shown.scale());
        return String.format(Locale.ROOT, "%,." + decimals + "f", shown);
    }

    /** As short as an axis wants it. */
    static String brief(double value) {
        double size = Math.abs(value);
        if (size >= 1e9 || (size > 0 && size < 0.001)) {
            return String.format(Locale.ROOT, "%.0e", value);
        }
        String unit = size >= 1e6 ? "M" : size >= 1e3 ? "k" : "";
        double shown = size >= 1e6 ? value / 1e6 : size >= 1e3 ? value / 1e3 : value;
        String text = String.format(Locale.ROOT, "%.3f", shown);
        return text.replaceAll("\\.?0+$", "") + unit;
    }

    /** {@code messagesPerSecond} as "messages per second". */
    static String spaced(String name) {
        return HUMP.matcher(name).replaceAll(" ").toLowerCase(Locale.ROOT);
    }

    static String slug(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
    }

    static String cut(String text, int length) {
        return text.length() <= length ? text : text.substring(0, length - 1).strip() + "…";
    }

    /** As the text of a cell of a Markdown table; what is very long is cut, as the results are there in full. */
    static String cell(String text) {
        return cut(text.strip(), MOST)
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace("|", "\\|")
                .replace("*", "\\*")
                .replaceAll("\\R", "<br>");
    }
}
