package dev.trunkline.rig;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** What a client has prepared, so that it is known what it asks for when it names that only. */
final class Statements {

    private static final Pattern COMMIT = Pattern.compile("(commit|end)\\b[^;]*;?");

    private final Map<String, String> prepared = new HashMap<>();

    /** The SQL that a message asks to be run; none if it is empty. */
    String run(byte[] frame) {
        switch (frame[0]) {
            case 'Q' -> {
                return text(frame, 5);
            }
            case 'B' -> {
                String portal = text(frame, 5);
                return prepared.getOrDefault(text(frame, 5 + portal.length() + 1), "");
            }
            case 'P' -> {
                String name = text(frame, 5);
                prepared.put(name, text(frame, 5 + name.length() + 1));
            }
            case 'C' -> {
                if (frame.length > 5 && frame[5] == 'S') {
                    prepared.remove(text(frame, 6));
                }
            }
            default -> {}
        }
        return "";
    }

    static boolean isCommit(String sql) {
        return COMMIT.matcher(sql.strip().toLowerCase(Locale.ROOT)).matches();
    }

    /** Up to the next zero, one character for each byte. */
    private static String text(byte[] frame, int from) {
        int end = from;
        while (end < frame.length && frame[end] != 0) {
            end++;
        }
        return end <= from ? "" : new String(frame, from, end - from, StandardCharsets.ISO_8859_1);
    }
}
