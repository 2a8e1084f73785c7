package dev.trunkline.database;

import dev.trunkline.ConsumerGroupException;
import org.jspecify.annotations.Nullable;

/** What PostgreSQL can not store as text: NUL, and half a character, for which the driver would send a question mark. */
public final class Texts {

    private Texts() {}

    /** What is wrong with a text, to follow its name; null: nothing. */
    public static @Nullable String flaw(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\0') {
                return "contains NUL";
            }
            if (Character.isSurrogate(c)) {
                if (Character.isLowSurrogate(c)
                        || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    return "contains the lone surrogate U+%04X".formatted((int) c);
                }
                i++;
            }
        }
        return null;
    }

    /** A text that a group is called by or asked for, if nothing is wrong with it. */
    public static String require(String text) {
        String flaw = flaw(text);
        if (flaw != null) {
            throw new ConsumerGroupException("a name, key or token " + flaw + ": remove it");
        }
        return text;
    }

    /** As {@link #require(String)}, of all that are not null. */
    public static @Nullable String[] require(@Nullable String[] texts) {
        for (String text : texts) {
            if (text != null) {
                require(text);
            }
        }
        return texts;
    }
}
