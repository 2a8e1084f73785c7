package dev.trunkline.server.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.demo.Accident.Loss;
import dev.trunkline.server.demo.Books.DeadLetter;
import dev.trunkline.server.demo.Notes.Note;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each error is sown into evidence that is otherwise sound, and must be found by the line that is about it. */
class ProofTest {

    private static final long KILLED = 11;
    private static final long OTHER = 12;
    private static final long HEIR = 13;

    private final List<Order> orders = new ArrayList<>();
    private final List<Note> notes = new ArrayList<>();
    private final List<Order> rows = new ArrayList<>();
    private final List<DeadLetter> deadLetters = new ArrayList<>();
    private final Map<String, Long> parked = new HashMap<>();
    private final Map<Long, Integer> holders = new HashMap<>(Map.of(OTHER, 40, HEIR, 8));
    private Optional<Loss> loss = Optional.of(new Loss(KILLED, 24, true, 4_100, HEIR));
    private long tickets;

    /** Two writers with two customers; orders up to the fifth are handled by the process that is killed then. */
    @BeforeEach
    void soundEvidence() {
        for (int number = 1; number <= 10; number++) {
            for (int writer : List.of(Order.UNLUCKY_WRITER, 1)) {
                Order order = new Order(writer, number, "customer-" + writer, 100);
                orders.add(order);
                if (order.rolledBack()) {
                    continue;
                }
                if (order.inTransaction()) {
                    rows.add(order);
                }
                for (String group : Members.GROUPS) {
                    if (group.equals("inventory") && order.poisonous()) {
                        bury(order, Members.ATTEMPTS);
                    } else {
                        note(group, order, number <= 5 ? KILLED : OTHER, number <= 5 ? 1 : 2, false);
                    }
                }
            }
        }
    }

    @Test
    void sound_evidence_holds_in_every_line() {
        assertThat(wrong()).isEmpty();
        assertThat(text())
                .contains("email handled 18 of 18 committed orders")
                .contains("inventory handled 17 of 18 committed orders; dead letters: 1, parked behind them: 0")
                .contains("rolled back: 2, of them handled: 0")
                .contains("one to one: 8 and 8")
                .contains("handled twice: 0 that the killed process had not yet recorded, 0 ")
                .contains("order 7 of writer 0 for customer-0, given up by inventory after 3 attempts: too bad")
                .contains("process 11 was killed; its 24 partitions had an owner after 4,100 ms");
    }

    @Test
    void an_order_that_one_group_has_not_handled_is_found() {
        notes.remove(find("analytics", 1, 9));
        assertThat(wrong()).singleElement().asString().startsWith("analytics handled 17 of 18");
        assertThat(text()).contains("not handled by analytics: order 9 of writer 1");
    }

    @Test
    void an_order_that_was_rolled_back_is_found() {
        note("email", orders.getLast(), OTHER, 2, false);
        assertThat(wrong())
                .containsExactly(
                        "rolled back: 2, of them handled: 1", "business rows and their messages, one to one: 8 and 9");
    }

    @Test
    void an_order_that_nobody_published_or_that_was_changed_is_found() {
        note("email", new Order(9, 1, "customer-9", 100), OTHER, 2, false);
        note("email", new Order(1, 1, "customer-1", 101), OTHER, 2, false);
        assertThat(wrong()).containsExactly("rolled back: 2, of them handled: 2");
    }

    @Test
    void a_row_without_a_message_and_a_message_without_a_row_are_found() {
        rows.set(0, new Order(5, 2, "customer-5", 100));
        assertThat(wrong()).singleElement().asString().startsWith("business rows");
        assertThat(text()).contains("a row, no message: order 2 of writer 5", "a message, no row: order 2 of writer 0");
    }

    @Test
    void an_order_that_was_begun_before_the_one_before_it_was_over_is_found() {
        Note fifth = find("email", 1, 5);
        Note sixth = find("email", 1, 6);
        notes.set(notes.indexOf(fifth), between(fifth, fifth.began(), sixth.began() + 1));
        notes.set(notes.indexOf(sixth), between(sixth, sixth.began(), sixth.began() + 2));
        assertThat(wrong()).singleElement().asString().startsWith("in sequence");
        assertThat(text())
                .contains("order 6 of writer 1 for customer-1, by email in process 12 at epoch 2 began before");
    }

    @Test
    void what_follows_a_dead_letter_waits_for_its_last_attempt() {
        Note eighth = find("inventory", 0, 8);
        Note lastAttempt = find("inventory", 0, 7);
        notes.set(notes.indexOf(eighth), between(eighth, lastAttempt.began() - 1, lastAttempt.began() - 1));
        assertThat(wrong()).singleElement().asString().startsWith("in sequence");
    }

    @Test
    void what_the_killed_process_had_handled_may_come_again() {
        for (Note note : List.copyOf(notes)) {
            if (note.process() == KILLED && note.order().number() >= 4) {
                notes.add(between(
                        new Note(note.group(), note.order(), OTHER, 2, false, 0, 0),
                        note.began() * 10 + tickets * 10,
                        note.began() * 10 + tickets * 10 + 1));
            }
        }
        // They come before what the killed process had not handled.
        notes.replaceAll(note -> note.order().number() > 5
                ? between(note, note.began() + tickets * 1_000, note.ended() + tickets * 1_000)
                : note);
        assertThat(wrong()).isEmpty();
        assertThat(text()).contains("handled twice: 12 that the killed process had not yet recorded, 0 ");
    }

    @Test
    void an_order_that_comes_twice_to_one_owner_is_found() {
        note("email", find("email", 1, 9).order(), OTHER, 2, false);
        assertThat(wrong()).singleElement().asString().startsWith("handled twice: 0 that");
    }

    @Test
    void an_owner_that_goes_back_is_found() {
        note("email", find("email", 1, 8).order(), HEIR, 3, false);
        note("email", find("email", 1, 7).order(), HEIR, 3, false);
        assertThat(wrong()).singleElement().asString().startsWith("in sequence");
    }

    @Test
    void poison_that_did_not_become_a_dead_letter_is_found() {
        Order poison = deadLetters.removeFirst().order();
        assertThat(wrong()).hasSize(2).contains("dead letters: []");
        notes.removeIf(note -> note.failed());
        note("inventory", poison, OTHER, 9, false);
        assertThat(wrong()).contains("dead letters: []");
    }

    @Test
    void a_dead_letter_with_too_few_attempts_is_found() {
        notes.remove(find("inventory", 0, 7));
        assertThat(wrong()).singleElement().asString().startsWith("dead letters: [order 7 of writer 0");
    }

    @Test
    void a_dead_letter_that_is_not_poison_is_found() {
        deadLetters.add(new DeadLetter("email", orders.getFirst(), 3, "why"));
        assertThat(wrong()).singleElement().asString().startsWith("dead letters: [");
    }

    @Test
    void what_is_parked_behind_a_dead_letter_need_not_be_handled() {
        notes.remove(find("inventory", 0, 8));
        notes.remove(find("inventory", 0, 9));
        parked.put("inventory", 2L);
        assertThat(wrong()).isEmpty();
        assertThat(text())
                .contains("inventory handled 15 of 18 committed orders; dead letters: 1, parked behind them: 2");
        parked.put("inventory", 1L);
        assertThat(wrong()).singleElement().asString().startsWith("inventory handled");
    }

    @Test
    void partitions_that_nobody_holds_or_gave_back_are_found() {
        holders.remove(HEIR);
        assertThat(wrong()).singleElement().asString().startsWith("process 11 was killed");
        holders.put(HEIR, 8);
        loss = Optional.of(new Loss(KILLED, 24, false, 30_000, HEIR));
        assertThat(wrong()).singleElement().asString().startsWith("process 11 was killed");
    }

    @Test
    void nothing_at_all_proves_nothing() {
        orders.clear();
        notes.clear();
        rows.clear();
        deadLetters.clear();
        loss = Optional.empty();
        assertThat(wrong()).hasSize(Members.GROUPS.size());
    }

    @Test
    void only_the_first_examples_are_shown() {
        notes.removeIf(note -> note.group().equals("email"));
        assertThat(text()).contains("- and 15 more");
    }

    private void note(String group, Order order, long process, long epoch, boolean failed) {
        notes.add(new Note(group, order, process, epoch, failed, tickets++, tickets++));
    }

    private void bury(Order order, int attempts) {
        for (int attempt = 0; attempt < attempts; attempt++) {
            note("inventory", order, OTHER, 2, true);
        }
        deadLetters.add(new DeadLetter("inventory", order, attempts, "too bad"));
    }

    private static Note between(Note note, long began, long ended) {
        return new Note(note.group(), note.order(), note.process(), note.epoch(), note.failed(), began, ended);
    }

    /** The last note of an order. */
    private Note find(String group, int writer, long number) {
        return notes.reversed().stream()
                .filter(note -> note.group().equals(group)
                        && note.order().writer() == writer
                        && note.order().number() == number)
                .findFirst()
                .orElseThrow();
    }

    private List<Proof.Line> proof() {
        return Proof.of(new Evidence(orders, notes, rows, deadLetters, parked, holders, loss));
    }

    private List<String> wrong() {
        return proof().stream()
                .filter(line -> !line.holds())
                .map(Proof.Line::claim)
                .toList();
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        proof().forEach(line -> text.append(line.text()));
        return text.toString();
    }
}
