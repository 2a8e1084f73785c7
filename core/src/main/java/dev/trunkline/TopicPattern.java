package dev.trunkline;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Topics by what they are called. A topic fits if it fits everything that is said.
 *
 * @param namespace the topic's namespace; null: whatever
 * @param task the topic's task; null: whatever
 * @param name what the topic's name is like, with {@code *} for any characters and {@code ?} for one, and a backslash before what is meant as it
 *     is; null: whatever
 */
public record TopicPattern(
        @Nullable String namespace,
        @Nullable String task,
        @Nullable String name) {

    public TopicPattern {
        if (namespace == null && task == null && name == null) {
            throw new IllegalArgumentException("which topics? Give a namespace, a task, or a pattern of names");
        }
        require("namespace", namespace);
        require("task", task);
        require("pattern of topic names", name);
        if (name != null && endsInBackslash(name)) {
            throw new IllegalArgumentException(
                    "\"" + name
                            + "\" is no pattern of topic names: a backslash stands before a character, none follows the last one");
        }
    }

    private static void require(String what, @Nullable String text) {
        if (text != null && (text.isEmpty() || text.codePoints().anyMatch(TopicPattern::isNoCharacter))) {
            throw new IllegalArgumentException("\"" + text + "\" is no " + what
                    + ": give one or more characters, without NUL and lone surrogates");
        }
    }

    private static boolean isNoCharacter(int c) {
        return c == 0 || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    }

    private static boolean endsInBackslash(String pattern) {
        boolean escaped = false;
        for (int i = 0; i < pattern.length(); i++) {
            escaped = pattern.charAt(i) == '\\' && !escaped;
        }
        return escaped;
    }

    /** Topics of a namespace. */
    public static TopicPattern namespace(String namespace) {
        return new TopicPattern(Objects.requireNonNull(namespace, "namespace"), null, null);
    }

    /** Topics of a task. */
    public static TopicPattern task(String task) {
        return new TopicPattern(null, Objects.requireNonNull(task, "task"), null);
    }

    /** Topics with a name like that. */
    public static TopicPattern name(String pattern) {
        return new TopicPattern(null, null, Objects.requireNonNull(pattern, "pattern"));
    }

    /** Of these, those of a namespace. */
    public TopicPattern withNamespace(String newNamespace) {
        return new TopicPattern(newNamespace, task, name);
    }

    /** Of these, those of a task. */
    public TopicPattern withTask(String newTask) {
        return new TopicPattern(namespace, newTask, name);
    }

    /** Of these, those with a name like that. */
    public TopicPattern withName(String pattern) {
        return new TopicPattern(namespace, task, pattern);
    }

    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        if (namespace != null) {
            parts.add("namespace " + namespace);
        }
        if (task != null) {
            parts.add("task " + task);
        }
        if (name != null) {
            parts.add("name " + name);
        }
        return String.join(", ", parts);
    }
}
