package dev.trunkline.server.verify;

import dev.trunkline.server.verify.Auditor.Topic;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads a segment from its first frame to its last, and holds them against each other and against the catalogue. */
final class SegmentAudit {

    private static final int PAGE = 1_000;

    private final Auditor auditor;
    private final Topic topic;
    private final Segment segment;
    /** Null: this one is the last, and grows. */
    private final @Nullable Segment next;

    /** By strand: which offset comes next, what time it has reached, and whether all of it could be read. */
    private final long[] expected;

    private final Instant[] times;
    private final boolean[] unreadable;

    /** The place behind which to read on, and how many frames at once. */
    private int strand = Integer.MIN_VALUE;

    private long offset = Long.MIN_VALUE;
    private int most = PAGE;

    SegmentAudit(Auditor auditor, Topic topic, Segment segment, @Nullable Segment next) {
        this.auditor = auditor;
        this.topic = topic;
        this.segment = segment;
        this.next = next;
        this.expected = segment.bases().stream().mapToLong(Long::longValue).toArray();
        this.times = segment.times().toArray(Instant[]::new);
        this.unreadable = new boolean[topic.strands()];
    }

    void run() throws SQLException {
        while (readOn()) {
            auditor.progress(topic, segment);
        }
        checkEnds();
        checkIds();
    }

    /** False: there is nothing more. */
    private boolean readOn() throws SQLException {
        try {
            List<Frame> frames = auditor.frames(segment, strand, offset, most, Integer.MAX_VALUE);
            for (Frame frame : frames) {
                check(frame);
                strand = frame.strand();
                offset = frame.last();
            }
            return !frames.isEmpty();
        } catch (SQLException e) {
            if (!Auditor.isDamage(e)) {
                throw e;
            }
            return goOnBehind(e);
        }
    }

    private boolean goOnBehind(SQLException e) throws SQLException {
        if (auditor.isGone(segment)) {
            Arrays.fill(unreadable, true); // dropped by retention, or with its topic
            return false;
        }
        if (Auditor.isMissing(e)) {
            lose(0, topic.strands(), "the table of segment " + segment.id() + " is missing");
            return false;
        }
        if (most > 1) {
            most = 1; // up to the very frame
            return true;
        }
        String problem = "can not be read: " + Auditor.message(e);
        if (strand >= topic.strands()) {
            findUnreadable(problem);
            return false;
        }
        int upto = Math.max(strand, -1); // those below zero, which there are not, count as one
        if (!isWhole(upto)) {
            if (upto < 0) {
                findUnreadable(problem);
            } else {
                lose(upto, upto + 1, problem);
            }
        }
        strand = upto + 1;
        offset = Long.MIN_VALUE;
        most = PAGE;
        return true;
    }

    private void findUnreadable(String problem) {
        auditor.find(topic, null, null, null, "segment " + segment.id() + " " + problem);
    }

    /** Whether nothing is left to be read up to this strand: then it is another one that can not be. */
    private boolean isWhole(int upto) throws SQLException {
        try {
            return auditor.frames(segment, strand, offset, 1, upto).isEmpty();
        } catch (SQLException e) {
            if (!Auditor.isDamage(e)) {
                throw e;
            }
            return false;
        }
    }

    private void lose(int from, int to, String problem) {
        for (int lost = from; lost < to; lost++) {
            unreadable[lost] = true;
            Long end = next == null ? null : next.bases().get(lost);
            if (end == null || end > expected[lost]) {
                auditor.find(topic, lost, expected[lost], end, problem);
            }
        }
    }

    private void check(Frame frame) {
        int its = frame.strand();
        long end = frame.last() + 1;
        if (frame.flaw() != null) {
            auditor.find(topic, its, frame.first(), end, frame.flaw() + ", in segment " + segment.id());
        }
        if (topic.isNone(its)) {
            auditor.find(
                    topic, its, frame.first(), end, "they lie in partition number " + its + ", which there is not");
            return;
        }
        if (frame.first() > expected[its]) {
            auditor.find(topic, its, expected[its], frame.first(), "missing from segment " + segment.id());
        } else if (frame.first() < expected[its]) {
            auditor.find(
                    topic,
                    its,
                    frame.first(),
                    Math.min(end, expected[its]),
                    "twice in the log, in segment " + segment.id());
        }
        if (frame.appendedAt().isBefore(times[its])) {
            auditor.find(topic, its, frame.first(), end, "appended before what lies before them");
        }
        expected[its] = Math.max(expected[its], end);
        times[its] = frame.appendedAt();
    }

    private void checkIds() throws SQLException {
        try {
            auditor.findRepeated(topic, segment);
        } catch (SQLException e) {
            if (!Auditor.isDamage(e)) {
                throw e;
            }
            // It is gone meanwhile, or what can not be read was found when its frames were.
        }
    }

    /** A segment ends where the next one begins. */
    private void checkEnds() {
        for (int each = 0; next != null && each < topic.strands(); each++) {
            long end = next.bases().get(each);
            if (unreadable[each] || end == expected[each]) {
                continue;
            }
            if (end > expected[each]) {
                auditor.find(topic, each, expected[each], end, "missing from the end of segment " + segment.id());
            } else {
                auditor.find(
                        topic,
                        each,
                        end,
                        expected[each],
                        "in segment " + segment.id() + " and to be in segment " + next.id());
            }
        }
    }
}
