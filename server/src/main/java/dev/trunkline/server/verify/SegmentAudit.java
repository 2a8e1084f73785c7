package dev.trunkline.server.verify;

import dev.trunkline.server.verify.Auditor.Topic;
import java.sql.SQLException;
import java.time.Instant;
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
        int strand = 0;
        long offset = -1;
        int most = PAGE;
        while (true) {
            List<Frame> frames;
            try {
                frames = auditor.frames(segment, strand, offset, most, Integer.MAX_VALUE);
            } catch (SQLException e) {
                if (!Auditor.isDamage(e)) {
                    throw e;
                }
                if (auditor.isGone(segment)) {
                    return; // dropped by retention, or with its topic
                }
                if (Auditor.isMissing(e)) {
                    lose(0, "the table of segment " + segment.id() + " is missing");
                    return;
                }
                if (most > 1) {
                    most = 1; // up to the very frame
                    continue;
                }
                if (strand >= topic.strands()) {
                    auditor.find(
                            topic,
                            null,
                            null,
                            null,
                            "segment " + segment.id() + " can not be read: " + Auditor.message(e));
                    break;
                }
                if (!isWhole(strand, offset)) {
                    lose(strand, strand + 1, "can not be read: " + Auditor.message(e));
                }
                strand++;
                offset = -1;
                most = PAGE;
                continue;
            }
            frames.forEach(this::check);
            auditor.progress(topic, segment);
            if (frames.isEmpty()) {
                break;
            }
            strand = frames.getLast().strand();
            offset = frames.getLast().last();
        }
        checkEnds();
    }

    /** Whether nothing is left to be read of a strand: then it is another one that can not be. */
    private boolean isWhole(int strand, long offset) throws SQLException {
        try {
            return auditor.frames(segment, strand, offset, 1, strand).isEmpty();
        } catch (SQLException e) {
            if (!Auditor.isDamage(e)) {
                throw e;
            }
            return false;
        }
    }

    private void lose(int from, String problem) {
        lose(from, topic.strands(), problem);
    }

    private void lose(int from, int to, String problem) {
        for (int strand = from; strand < Math.min(to, topic.strands()); strand++) {
            unreadable[strand] = true;
            Long end = next == null ? null : next.bases().get(strand);
            if (end == null || end > expected[strand]) {
                auditor.find(topic, strand, expected[strand], end, problem);
            }
        }
    }

    private void check(Frame frame) {
        int strand = frame.strand();
        long end = frame.last() + 1;
        if (frame.flaw() != null) {
            auditor.find(topic, strand, frame.first(), end, frame.flaw() + ", in segment " + segment.id());
        }
        if (strand < 0 || strand >= topic.strands()) {
            auditor.find(
                    topic,
                    strand,
                    frame.first(),
                    end,
                    "they lie in partition number " + strand + ", which there is not");
            return;
        }
        if (frame.first() > expected[strand]) {
            auditor.find(topic, strand, expected[strand], frame.first(), "missing from segment " + segment.id());
        } else if (frame.first() < expected[strand]) {
            auditor.find(
                    topic,
                    strand,
                    frame.first(),
                    Math.min(end, expected[strand]),
                    "twice in the log, in segment " + segment.id());
        }
        if (frame.appendedAt().isBefore(times[strand])) {
            auditor.find(topic, strand, frame.first(), end, "appended before what lies before them");
        }
        expected[strand] = Math.max(expected[strand], end);
        times[strand] = frame.appendedAt();
    }

    /** A segment ends where the next one begins. */
    private void checkEnds() {
        for (int strand = 0; next != null && strand < topic.strands(); strand++) {
            long end = next.bases().get(strand);
            if (unreadable[strand] || end == expected[strand]) {
                continue;
            }
            if (end > expected[strand]) {
                auditor.find(topic, strand, expected[strand], end, "missing from the end of segment " + segment.id());
            } else {
                auditor.find(
                        topic,
                        strand,
                        end,
                        expected[strand],
                        "in segment " + segment.id() + " and to be in segment " + next.id());
            }
        }
    }
}
