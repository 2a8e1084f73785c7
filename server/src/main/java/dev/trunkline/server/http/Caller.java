package dev.trunkline.server.http;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who asks, and what he may.
 *
 * @param name for the audit log
 * @param verbs what he may do
 * @param topics a pattern of topics that he may do it to: {@code *} stands for anything
 * @param groups the same of groups
 */
record Caller(String name, Set<Verb> verbs, String topics, String groups) {

    /** Who asks where nobody has to say who he is. */
    static final Caller ANYBODY = new Caller("anybody", Set.of(Verb.values()), "*", "*");

    /** Whether he may do something to what is asked for. */
    boolean may(Verb verb, Exchange exchange) {
        return may(
                verb,
                exchange.has("topic") ? exchange.path("topic") : null,
                exchange.has("group") ? exchange.path("group") : null);
    }

    /**
     * Whether he may do something to a topic, or a group of it; null: to none in particular, which only who may do it to all may. What is said of groups does not
     * keep anybody from publishing to a topic or reading it; but to change it is to change all its groups.
     */
    boolean may(Verb verb, @Nullable String topic, @Nullable String group) {
        boolean ofGroups = topic == null || group != null || verb == Verb.ADMIN;
        return verbs.contains(verb) && fits(topics, topic) && (!ofGroups || fits(groups, group));
    }

    /** Whether a group is one of his. */
    boolean sees(String group) {
        return fits(groups, group);
    }

    private static boolean fits(String pattern, @Nullable String name) {
        if (pattern.equals("*")) {
            return true;
        }
        return name != null && fits(List.of(pattern.split("\\*", -1)), name);
    }

    /** Each piece in its order, the first at the beginning and the last at the end. */
    private static boolean fits(List<String> pieces, String name) {
        if (pieces.size() == 1) {
            return name.equals(pieces.getFirst());
        }
        if (!name.startsWith(pieces.getFirst())) {
            return false;
        }
        int at = pieces.getFirst().length();
        for (String piece : pieces.subList(1, pieces.size() - 1)) {
            int found = name.indexOf(piece, at);
            if (found < 0) {
                return false;
            }
            at = found + piece.length();
        }
        String last = pieces.getLast();
        return name.length() - at >= last.length() && name.endsWith(last);
    }
}
