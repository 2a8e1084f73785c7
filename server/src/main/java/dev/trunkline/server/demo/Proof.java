package dev.trunkline.server.demo;

import static dev.trunkline.server.demo.Sent.Outcome.ROLLED_BACK;
import static dev.trunkline.server.demo.Sent.Outcome.UNKNOWN;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Holds what was read from the log against what was published, promise by promise. */
final class Proof {

    private static final int EXAMPLES = 3;

    /**
     * One promise.
     *
     * @param claim what was found, with numbers
     * @param wrong what contradicts it; empty if it holds
     */
    record Line(String claim, List<String> wrong) {
        boolean holds() {
            return wrong.isEmpty();
        }
    }

    private final Evidence evidence;
    private final Map<Order.Id, Sent> sent;
    private final Map<Order.Id, Seen> seen = new HashMap<>();
    private final List<String> repeated = new ArrayList<>();
    private final Map<Integer, List<Seen>> partitions = new TreeMap<>();

    private Proof(Evidence evidence) {
        this.evidence = evidence;
        this.sent =
                evidence.sent().stream().collect(Collectors.toMap(s -> s.order().id(), Function.identity()));
        for (Seen message : evidence.seen()) {
            Seen first = seen.putIfAbsent(message.order().id(), message);
            if (first != null) {
                repeated.add(message + " was read before, as " + first);
            }
            partitions
                    .computeIfAbsent(message.partition(), p -> new ArrayList<>())
                    .add(message);
        }
        evidence.ends().keySet().forEach(p -> partitions.computeIfAbsent(p, none -> new ArrayList<>()));
        partitions.values().forEach(messages -> messages.sort(Comparator.comparingLong(Seen::offset)));
    }

    /** The lines of the proof. It holds if each of them does. */
    static List<Line> of(Evidence evidence) {
        Proof proof = new Proof(evidence);
        List<Line> lines = new ArrayList<>();
        for (Way way : Way.values()) {
            lines.add(proof.nothingIsLost(way));
        }
        lines.add(proof.nothingRolledBackIsSeen());
        lines.add(proof.nothingIsRepeated());
        lines.add(proof.nothingIsMadeUp());
        lines.add(proof.contentsAreIntact());
        lines.add(proof.offsetsHaveNoGaps());
        lines.add(proof.customersKeepTheirOrder());
        lines.add(proof.commitsKeepTheirOrder());
        lines.add(proof.nothingIsEarly());
        lines.add(proof.rowsAreMessages());
        return lines;
    }

    /** The lines for people. */
    static String text(List<Line> lines) {
        StringBuilder text = new StringBuilder();
        for (Line line : lines) {
            text.append(line.holds() ? "  holds  " : "  WRONG  ")
                    .append(line.claim())
                    .append('\n');
            line.wrong().stream()
                    .limit(EXAMPLES)
                    .forEach(w -> text.append("         - ").append(w).append('\n'));
            if (line.wrong().size() > EXAMPLES) {
                text.append("         - and ")
                        .append(number(line.wrong().size() - EXAMPLES))
                        .append(" more\n");
            }
        }
        return text.toString();
    }

    private Line nothingIsLost(Way way) {
        List<String> wrong = new ArrayList<>();
        int committed = 0;
        int read = 0;
        int unknown = 0;
        for (Sent message : evidence.sent()) {
            if (message.order().way() == way && message.committed()) {
                committed++;
                if (seen.containsKey(message.order().id())) {
                    read++;
                } else {
                    wrong.add(message.order().id() + " was committed and is not in the log");
                }
            } else if (message.order().way() == way && message.outcome() == UNKNOWN) {
                unknown++;
            }
        }
        if (committed == 0) {
            wrong.add("nothing was committed, so nothing is shown");
        }
        return new Line(
                "published " + way.text + ": " + number(committed) + " committed, " + number(read) + " of them read"
                        + (unknown == 0 ? "" : "; of " + number(unknown) + " the outcome is unknown"),
                wrong);
    }

    private Line nothingRolledBackIsSeen() {
        List<String> wrong = new ArrayList<>();
        int rolledBack = 0;
        for (Sent message : evidence.sent()) {
            if (message.outcome() == ROLLED_BACK) {
                rolledBack++;
                Seen ghost = seen.get(message.order().id());
                if (ghost != null) {
                    wrong.add("rolled back, but in the log: " + ghost);
                }
            }
        }
        return new Line("rolled back: " + number(rolledBack) + ", of them read: " + number(wrong.size()), wrong);
    }

    private Line nothingIsRepeated() {
        return new Line("read more than once: " + number(repeated.size()), repeated);
    }

    private Line nothingIsMadeUp() {
        List<String> wrong = seen.values().stream()
                .filter(message -> !sent.containsKey(message.order().id()))
                .map(message -> "nobody published " + message)
                .toList();
        return new Line("read but never published: " + number(wrong.size()), wrong);
    }

    private Line contentsAreIntact() {
        List<String> wrong = new ArrayList<>();
        for (Seen message : evidence.seen()) {
            Sent original = sent.get(message.order().id());
            if (original != null && !original.order().equals(message.order())) {
                wrong.add(message + " reads " + message.order() + ", published was " + original.order());
            } else if (!message.order().customer().equals(message.key())) {
                wrong.add(message + " has the key " + message.key() + " instead of "
                        + message.order().customer());
            }
        }
        return new Line(
                "read as published, payload and key: " + number(evidence.seen().size() - wrong.size()), wrong);
    }

    private Line offsetsHaveNoGaps() {
        List<String> wrong = new ArrayList<>();
        partitions.forEach((partition, messages) -> {
            long next = 0;
            for (Seen message : messages) {
                if (message.offset() != next) {
                    wrong.add("partition " + partition + " goes on at offset " + message.offset() + " instead of "
                            + next);
                }
                next = message.offset() + 1;
            }
            Long end = evidence.ends().get(partition);
            if (end == null || end != next) {
                wrong.add("partition " + partition + " was read up to " + next + ", its end is " + end);
            }
        });
        return new Line("offsets without a gap from 0 to the end: " + partitions.size() + " partitions", wrong);
    }

    /** The orders of one customer lie in one partition; those of one writer among them in the order of its calls. */
    private Line customersKeepTheirOrder() {
        List<String> wrong = new ArrayList<>();
        Map<String, Integer> homes = new HashMap<>();
        Map<String, Seen> last = new HashMap<>();
        forEachAtOnce((message, original) -> {
            String customer = message.order().customer();
            Integer home = homes.putIfAbsent(customer, message.partition());
            if (home != null && home != message.partition()) {
                wrong.add(customer + " is in partition " + home + " and in " + message.partition());
            }
            Seen before = last.put(customer + "/" + message.order().writer(), message);
            if (before != null && before.order().number() >= message.order().number()) {
                wrong.add(message + " comes after " + before);
            }
        });
        return new Line("order kept for each customer: " + number(homes.size()) + " customers", wrong);
    }

    /** What was committed before another publish call began has the lower offset, whoever made the calls and how. */
    private Line commitsKeepTheirOrder() {
        List<String> wrong = new ArrayList<>();
        Map<Integer, Entry> latest = new HashMap<>();
        int[] compared = {0};
        forEachAtOnce((message, original) -> {
            compared[0]++;
            Entry lower = latest.get(message.partition());
            if (lower != null
                    && original.committed()
                    && original.ended() < lower.original().began()) {
                wrong.add(message + " was committed " + (lower.original().began() - original.ended()) / 1_000
                        + " µs before the publish began of " + lower.message());
            }
            if (lower == null || original.began() > lower.original().began()) {
                latest.put(message.partition(), new Entry(message, original));
            }
        });
        return new Line(
                "committed before another publish began, hence a lower offset, across threads and ways: "
                        + number(compared[0]) + " messages",
                wrong);
    }

    private record Entry(Seen message, Sent original) {}

    @FunctionalInterface
    private interface Visit {
        void on(Seen message, Sent original);
    }

    /** Published messages that were not delayed, by partition and offset. */
    private void forEachAtOnce(Visit visit) {
        for (List<Seen> messages : partitions.values()) {
            for (Seen message : messages) {
                Sent original = sent.get(message.order().id());
                if (original != null && original.order().way() != Way.DELAYED) {
                    visit.on(message, original);
                }
            }
        }
    }

    private Line nothingIsEarly() {
        List<String> wrong = new ArrayList<>();
        int delayed = 0;
        for (Seen message : evidence.seen()) {
            Sent original = sent.get(message.order().id());
            if (original != null && original.order().way() == Way.DELAYED) {
                delayed++;
                long wait = message.at() - original.began();
                long due = Duration.ofMillis(original.order().delayMillis()).toNanos();
                if (wait < due) {
                    wrong.add(message + " was read after " + wait / 1_000_000 + " ms, due after " + due / 1_000_000);
                }
            }
        }
        return new Line(
                "delayed, of them read before they were due: " + number(wrong.size()) + " of " + number(delayed),
                wrong);
    }

    private Line rowsAreMessages() {
        List<String> wrong = new ArrayList<>();
        Set<Order.Id> messages = new HashSet<>();
        seen.values().stream()
                .filter(m -> m.order().way() == Way.IN_TRANSACTION)
                .forEach(m -> messages.add(m.order().id()));
        evidence.rows().stream()
                .filter(row -> !messages.contains(row))
                .forEach(row -> wrong.add(row + " has a row and no message"));
        messages.stream()
                .filter(id -> !evidence.rows().contains(id))
                .forEach(id -> wrong.add(id + " has a message and no row"));
        return new Line(
                "business rows and their messages, one to one: "
                        + number(evidence.rows().size()) + " and " + number(messages.size()),
                wrong);
    }

    static String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }
}
