package dev.trunkline.server;

/** How wide text is on a terminal, where a character takes one column, or two, or none. */
public final class Columns {

    /** First and last of the ranges that take two, apart from emoji: Unicode's East Asian Width, W and F. */
    private static final int[][] WIDE = {
        {0x1100, 0x115F},
        {0x2E80, 0x303E},
        {0x3041, 0x33FF},
        {0x3400, 0x4DBF},
        {0x4E00, 0xA4CF},
        {0xA960, 0xA97F},
        {0xAC00, 0xD7A3},
        {0xF900, 0xFAFF},
        {0xFE30, 0xFE6F},
        {0xFF00, 0xFF60},
        {0xFFE0, 0xFFE6},
        {0x17000, 0x18CFF},
        {0x1B000, 0x1B2FF},
        {0x20000, 0x3FFFD}
    };

    private Columns() {}

    public static int of(String text) {
        return text.codePoints().map(Columns::of).sum();
    }

    /** As much of it as fits, with an ellipsis if that is not all. */
    public static String cut(String text, int columns) {
        if (of(text) <= columns) {
            return text;
        }
        StringBuilder kept = new StringBuilder();
        int left = columns - 1;
        for (int each : text.codePoints().toArray()) {
            left -= of(each);
            if (left < 0) {
                break;
            }
            kept.appendCodePoint(each);
        }
        return kept + "…";
    }

    private static int of(int character) {
        return switch (Character.getType(character)) {
            case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK, Character.FORMAT -> 0;
            default -> isWide(character) ? 2 : 1;
        };
    }

    private static boolean isWide(int character) {
        if (character < WIDE[0][0]) {
            return false;
        }
        for (int[] range : WIDE) {
            if (character >= range[0] && character <= range[1]) {
                return true;
            }
        }
        return Character.isEmojiPresentation(character);
    }
}
