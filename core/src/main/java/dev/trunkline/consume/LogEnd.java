package dev.trunkline.consume;

import dev.trunkline.UnknownTopicException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The end of the log, and what it says of a group that is near it, beyond it, or that can not see it. */
record LogEnd(Subject subject, GroupTable table, Monitor monitor) {

    private static final Logger log = LoggerFactory.getLogger(LogEnd.class);

    /**
     * Holds partitions against it that were taken just now: not before, since what came into the log after the take-over their last owner can not
     * have begun, and all else it can. A group that is further than its log would pass over what is appended there: it must not go on by itself.
     *
     * @return those of which the log can be read to its end
     */
    List<Owned> compare(List<Owned> taken) {
        if (taken.isEmpty()) {
            return taken;
        }
        @Nullable Long[] ends = table.readableEnds(subject.topic());
        List<Owned> readable = new ArrayList<>();
        for (Owned partition : taken) {
            if (partition.strands().stream().allMatch(strand -> ends[strand.number()] != null)) {
                readable.add(partition);
            } else {
                subject.of(log.atError(), partition.partition())
                        .log(
                                "{}: the log of topic \"{}\" is damaged at the end of partition {}, which is not served until it is mended",
                                subject.group(),
                                subject.topic(),
                                partition.partition());
            }
        }
        each(ends, readable, (partition, strand, end) -> strand.acquitFrom(end));
        eachAhead(ends, readable, (partition, strand, end) -> {
            strand.halt();
            subject.of(log.atError(), partition.partition())
                    .log(
                            "{}: it has done partition {} up to {}, but the log of topic \"{}\" ends at {}: the log has lost its end"
                                    + " (a restore?). The partition waits until the group is cancelled and started anew",
                            subject.group(),
                            partition.partition(),
                            strand.cursor(),
                            subject.topic(),
                            end);
        });
        return readable;
    }

    /** What is recorded where a standby took over is not further than the log there, and the group goes on with that. */
    void tellWhatIsGone(List<Owned> lost) {
        try {
            eachAhead(
                    table.ends(subject.topic()),
                    lost,
                    (partition, strand, end) -> subject.of(log.atError(), partition.partition())
                            .log(
                                    "{}: it had done partition {} of topic \"{}\" up to {}, but the log ends at {} now: what came after that is lost"
                                            + " (a standby has taken over?)",
                                    subject.group(),
                                    partition.partition(),
                                    subject.topic(),
                                    strand.cursor(),
                                    end));
        } catch (UnknownTopicException e) {
            log.debug("{}: nobody can say what is gone, because all is: {}", subject.group(), e.getMessage());
        }
    }

    /** How many messages of each partition are not done. */
    static Map<Integer, Long> lag(Long[] ends, Collection<Owned> partitions) {
        Map<Integer, Long> lag = new TreeMap<>();
        each(
                ends,
                partitions,
                (partition, strand, end) ->
                        lag.merge(partition.partition(), Math.max(0, end - strand.count()), Long::sum));
        return lag;
    }

    /** What is to be done with a strand, of which the end is known. */
    @FunctionalInterface
    private interface Deed {
        void at(Owned partition, Strand strand, long end);
    }

    private void eachAhead(@Nullable Long[] ends, List<Owned> partitions, Deed deed) {
        each(ends, partitions, (partition, strand, end) -> {
            if (strand.cursor() > end) {
                deed.at(partition, strand, end);
                monitor.tell(listener -> listener.aheadOfLog(partition.partition(), strand.cursor(), end));
            }
        });
    }

    private static void each(@Nullable Long[] ends, Collection<Owned> partitions, Deed deed) {
        for (Owned partition : partitions) {
            for (Strand strand : partition.strands()) {
                Long end = ends[strand.number()];
                if (end != null) {
                    deed.at(partition, strand, end);
                }
            }
        }
    }
}
