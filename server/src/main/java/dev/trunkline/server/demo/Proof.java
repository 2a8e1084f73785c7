package dev.trunkline.server.demo;

import dev.trunkline.server.demo.Accident.Loss;
import dev.trunkline.server.demo.Books.DeadLetter;
import dev.trunkline.server.demo.Notes.Note;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Holds what the handlers noted against what was published, promise by promise. */
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

        /** For people. */
        String text() {
            int more = wrong.size() - EXAMPLES;
            return (holds() ? "  holds  " : "  WRONG  ") + claim + "\n"
                    + wrong.stream()
                            .limit(EXAMPLES)
                            .map(example -> "         - " + example + "\n")
                            .collect(Collectors.joining())
                    + (more > 0 ? "         - and " + number(more) + " more\n" : "");
        }
    }

    private final Evidence evidence;
    /** What every group must have handled, each customer's in sequence. */
    private final List<Order> committed;
    /** By group and order, as they began. */
    private final Map<String, Map<Order, List<Note>>> notes;

    private Proof(Evidence evidence) {
        this.evidence = evidence;
        this.committed =
                evidence.orders().stream().filter(order -> !order.rolledBack()).toList();
        this.notes = evidence.notes().stream()
                .sorted(Comparator.comparingLong(Note::began))
                .collect(Collectors.groupingBy(Note::group, Collectors.groupingBy(Note::order)));
    }

    /** The lines of the proof. It holds if each of them does. */
    static List<Line> of(Evidence evidence) {
        Proof proof = new Proof(evidence);
        List<Line> lines = new ArrayList<>();
        Members.GROUPS.forEach(group -> lines.add(proof.nothingIsLost(group)));
        lines.add(proof.nothingIsMadeUp());
        lines.add(proof.rowsAreMessages());
        lines.add(proof.customersKeepTheirOrder());
        lines.add(proof.repeatsHaveAReason());
        lines.add(proof.poisonIsADeadLetter());
        evidence.loss().ifPresent(loss -> lines.add(proof.partitionsFoundAnOwner(loss)));
        return lines;
    }

    /** For programs. */
    static Map<String, Object> fields(List<Line> proof) {
        return Map.of(
                "holds",
                proof.stream().allMatch(Line::holds),
                "lines",
                proof.stream()
                        .map(line -> Map.of("claim", line.claim(), "holds", line.holds(), "wrong", line.wrong()))
                        .toList());
    }

    private Line nothingIsLost(String group) {
        List<String> wrong = new ArrayList<>();
        List<Order> dead = evidence.deadLetters().stream()
                .filter(letter -> letter.group().equals(group))
                .map(DeadLetter::order)
                .toList();
        long done = 0;
        long behind = 0;
        for (Order order : committed) {
            if (!handled(group, order).isEmpty()) {
                done++;
            } else if (dead.stream().anyMatch(letter -> isBehind(letter, order))) {
                behind++;
            } else if (!dead.contains(order)) {
                wrong.add("not handled by " + group + ": " + order);
            }
        }
        if (committed.isEmpty()) {
            wrong.add("nothing was committed, so nothing is shown");
        }
        long parked = evidence.parked().getOrDefault(group, 0L);
        if (behind != parked) {
            wrong.add(number(behind) + " behind a dead letter were not handled, " + number(parked) + " are parked");
        }
        return new Line(
                "%s handled %s of %s committed orders; dead letters: %d, parked behind them: %s"
                        .formatted(group, number(done), number(committed.size()), dead.size(), number(parked)),
                wrong);
    }

    private static boolean isBehind(Order letter, Order order) {
        return letter.customer().equals(order.customer()) && letter.number() < order.number();
    }

    private List<Note> all(String group, Order order) {
        return notes.getOrDefault(group, Map.of()).getOrDefault(order, List.of());
    }

    private List<Note> handled(String group, Order order) {
        return all(group, order).stream().filter(note -> !note.failed()).toList();
    }

    private Line nothingIsMadeUp() {
        Set<Order> real = new HashSet<>(committed);
        List<String> wrong = evidence.notes().stream()
                .filter(note -> !real.contains(note.order()))
                .map(note -> "nobody committed " + note)
                .toList();
        return new Line(
                "rolled back: " + number(evidence.orders().size() - committed.size()) + ", of them handled: "
                        + number(wrong.size()),
                wrong);
    }

    private Line rowsAreMessages() {
        List<String> wrong = new ArrayList<>();
        Set<Order> rows = new HashSet<>(evidence.rows());
        Set<Order> messages = evidence.notes().stream()
                .map(Note::order)
                .filter(Order::inTransaction)
                .collect(Collectors.toSet());
        rows.stream().filter(row -> !messages.contains(row)).forEach(row -> wrong.add("a row, no message: " + row));
        messages.stream().filter(m -> !rows.contains(m)).forEach(m -> wrong.add("a message, no row: " + m));
        return new Line(
                "business rows and their messages, one to one: " + number(rows.size()) + " and "
                        + number(messages.size()),
                wrong);
    }

    /** An order is begun when the customer's order before it is over, whoever had that one; and no owner goes back. */
    private Line customersKeepTheirOrder() {
        List<String> wrong = new ArrayList<>();
        Map<List<Object>, Note> last = new HashMap<>();
        for (String group : Members.GROUPS) {
            for (Order order : committed) {
                List<Note> all = all(group, order);
                for (Note note : all) {
                    follow(last, List.of(group, order.customer(), note.epoch()), note, note, wrong);
                }
                if (!all.isEmpty()) {
                    Note over = handled(group, order).stream()
                            .min(Comparator.comparingLong(Note::ended))
                            .orElse(all.getLast());
                    follow(last, List.of(group, order.customer()), all.getFirst(), over, wrong);
                }
            }
        }
        long customers = committed.stream().map(Order::customer).distinct().count();
        return new Line(
                "in sequence for each customer, in each group, across processes: " + number(customers) + " customers",
                wrong);
    }

    private static void follow(
            Map<List<Object>, Note> last, List<Object> whose, Note first, Note over, List<String> wrong) {
        Note before = last.put(whose, over);
        if (before != null && first.began() < before.ended()) {
            wrong.add(first + " began before the end of " + before);
        }
    }

    private Line repeatsHaveAReason() {
        List<String> wrong = new ArrayList<>();
        long killed = evidence.loss().map(Loss::process).orElse(0L);
        Map<Boolean, Integer> counts = new HashMap<>();
        for (String group : Members.GROUPS) {
            for (Order order : committed) {
                List<Note> handled = handled(group, order);
                for (int i = 1; i < handled.size(); i++) {
                    counts.merge(handled.get(i - 1).process() == killed, 1, Integer::sum);
                    if (handled.get(i).epoch() <= handled.get(i - 1).epoch()) {
                        wrong.add("twice, but its partition had no new owner: " + handled.get(i));
                    }
                }
            }
        }
        return new Line(
                "handled twice: %s that the killed process had not yet recorded, %s when partitions moved otherwise"
                        .formatted(number(counts.getOrDefault(true, 0)), number(counts.getOrDefault(false, 0))),
                wrong);
    }

    private Line poisonIsADeadLetter() {
        List<String> wrong = new ArrayList<>();
        List<DeadLetter> letters = evidence.deadLetters();
        List<Order> poison = committed.stream().filter(Order::poisonous).toList();
        if (!letters.stream().map(DeadLetter::order).toList().equals(poison)) {
            wrong.add("the poison is " + poison);
        }
        for (DeadLetter letter : letters) {
            List<Note> tried = all(letter.group(), letter.order());
            if (letter.attempts() != Members.ATTEMPTS
                    || tried.size() < Members.ATTEMPTS
                    || !tried.stream().allMatch(Note::failed)) {
                wrong.add("its handler should have failed " + Members.ATTEMPTS + " times, and noted " + tried);
            }
        }
        return new Line("dead letters: " + letters, wrong);
    }

    private Line partitionsFoundAnOwner(Loss loss) {
        List<String> wrong = new ArrayList<>();
        int returned = evidence.holders().getOrDefault(loss.heir(), 0);
        if (!loss.owned() || returned == 0) {
            wrong.add("partitions are held by " + evidence.holders());
        }
        return new Line(
                "process " + loss.process() + " was killed; its " + loss.partitions()
                        + " partitions had an owner after " + number(loss.millis()) + " ms; process " + loss.heir()
                        + ", in its place, has " + returned,
                wrong);
    }

    static String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }
}
