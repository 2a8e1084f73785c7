package dev.trunkline.log;

import java.util.StringJoiner;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Offsets of all strands of a topic as a text: the topic's id, then each offset, in base 36, so that a thousand of them still go into a header of HTTP. */
final class Position {

    private static final int RADIX = Character.MAX_RADIX;
    private static final Pattern NUMBER = Pattern.compile("[0-9a-z]{1,12}");

    private Position() {}

    static String text(TopicLog topic, long[] offsets) {
        StringJoiner text = new StringJoiner("-").add(Integer.toString(topic.id(), RADIX));
        for (long offset : offsets) {
            text.add(Long.toString(offset, RADIX));
        }
        return text.toString();
    }

    /** @throws IllegalArgumentException if it is no position in this topic */
    static long[] parse(String text, TopicLog topic) {
        String[] parts = text.split("-", -1);
        if (parts.length != topic.strands() + 1
                || !Stream.of(parts).allMatch(part -> NUMBER.matcher(part).matches())
                || Long.parseLong(parts[0], RADIX) != topic.id()) {
            throw new IllegalArgumentException("this is no position in topic \"" + topic.name() + "\"");
        }
        long[] offsets = new long[topic.strands()];
        for (int strand = 0; strand < offsets.length; strand++) {
            offsets[strand] = Long.parseLong(parts[strand + 1], RADIX);
        }
        return offsets;
    }
}
