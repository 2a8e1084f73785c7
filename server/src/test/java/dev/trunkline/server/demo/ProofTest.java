package dev.trunkline.server.demo;

import static dev.trunkline.server.demo.Sent.Outcome.COMMITTED;
import static dev.trunkline.server.demo.Sent.Outcome.ROLLED_BACK;
import static dev.trunkline.server.demo.Sent.Outcome.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each error is sown into evidence that is otherwise sound, and must be found by the line that is about it. */
class ProofTest {

    private static final long MILLISECOND = 1_000_000;

    private final List<Sent> sent = new ArrayList<>();
    private final List<Seen> seen = new ArrayList<>();
    private final Set<Order.Id> rows = new HashSet<>();
    private final Map<Integer, Long> ends = new HashMap<>();
    private long clock;

    /** Three rounds: writers 1 and 2 on their own, 3 in transactions, 4 delayed; two customers in two partitions. */
    @BeforeEach
    void soundEvidence() {
        for (int number = 1; number <= 6; number++) {
            publish(Way.ON_ITS_OWN, 1, number);
            publish(Way.ON_ITS_OWN, 2, number);
            rows.add(publish(Way.IN_TRANSACTION, 3, number).id());
            publish(Way.DELAYED, 4, number);
            send(order(Way.IN_TRANSACTION, 5, number), ROLLED_BACK);
        }
    }

    @Test
    void sound_evidence_holds_in_every_line() {
        assertThat(wrong()).isEmpty();
        assertThat(Proof.text(Proof.of(evidence())))
                .contains("published on its own: 12 committed, 12 of them read")
                .contains("rolled back: 6, of them read: 0")
                .contains("one to one: 6 and 6")
                .doesNotContain("WRONG");
    }

    @Test
    void a_lost_message_is_found() {
        // The last of its partition, and the end says so too: nothing else gives it away.
        Seen last = seen.removeLast();
        ends.put(last.partition(), last.offset());
        assertThat(wrong()).containsExactly("published delayed: 6 committed, 5 of them read");
        assertThat(text()).contains(last.order().id() + " was committed and is not in the log");
    }

    @Test
    void a_message_that_was_never_read_is_found_by_the_end_of_its_partition() {
        ends.merge(1, 1L, Long::sum);
        assertThat(wrong()).singleElement().asString().startsWith("offsets without a gap");
    }

    @Test
    void a_doubled_message_is_found() {
        append(seen.getLast().order());
        assertThat(wrong()).containsExactly("read more than once: 1");
    }

    @Test
    void a_message_read_twice_at_one_offset_is_found() {
        seen.add(seen.getFirst());
        assertThat(wrong()).anyMatch(line -> line.equals("read more than once: 1"));
    }

    @Test
    void a_message_that_nobody_published_is_found() {
        append(order(Way.ON_ITS_OWN, 9, 2));
        assertThat(wrong()).containsExactly("read but never published: 1");
    }

    @Test
    void a_message_that_was_rolled_back_is_found() {
        Order order = order(Way.IN_TRANSACTION, 5, 1);
        append(order);
        rows.add(order.id());
        assertThat(wrong()).containsExactly("rolled back: 6, of them read: 1");
    }

    @Test
    void a_hole_is_found() {
        Seen last = seen.removeLast();
        seen.add(new Seen(last.order(), last.key(), last.partition(), last.offset() + 1, last.at()));
        ends.merge(last.partition(), 1L, Long::sum);
        assertThat(wrong()).singleElement().asString().startsWith("offsets without a gap");
        assertThat(text()).contains("goes on at offset " + (last.offset() + 1) + " instead of " + last.offset());
    }

    @Test
    void reordered_messages_of_one_writer_are_found() {
        swapOffsets(new Order.Id(1, 1), new Order.Id(1, 3));
        assertThat(wrong())
                .hasSize(2)
                .anyMatch(line -> line.startsWith("order kept for each customer"))
                .anyMatch(line -> line.startsWith("committed before another publish began"));
    }

    @Test
    void reordered_messages_of_two_writers_and_ways_are_found() {
        swapOffsets(new Order.Id(2, 1), new Order.Id(3, 1));
        assertThat(wrong()).singleElement().asString().startsWith("committed before another publish began");
    }

    @Test
    void messages_whose_publishing_overlapped_may_lie_in_any_order() {
        Sent first = find(new Order.Id(2, 1));
        Sent second = find(new Order.Id(3, 1));
        sent.set(sent.indexOf(first), new Sent(first.order(), COMMITTED, first.began(), second.began() + 1));
        swapOffsets(first.order().id(), second.order().id());
        assertThat(wrong()).isEmpty();
    }

    @Test
    void a_customer_in_two_partitions_is_found() {
        Seen last = seen.removeLast();
        seen.removeLast();
        seen.removeIf(message -> message.order().number() == 6);
        assertThat(last.order().number()).isEqualTo(6);
        Order stray = order(Way.ON_ITS_OWN, 1, 8);
        send(stray, COMMITTED);
        seen.add(new Seen(stray, stray.customer(), 1, 99, clock));
        assertThat(wrong()).anyMatch(line -> line.startsWith("order kept for each customer"));
        assertThat(text()).contains("is in partition 0 and in 1");
    }

    @Test
    void a_delayed_message_that_comes_early_is_found() {
        Seen late = seen.getLast();
        long began = find(late.order().id()).began();
        seen.set(
                seen.size() - 1,
                new Seen(late.order(), late.key(), late.partition(), late.offset(), began + 49 * MILLISECOND));
        assertThat(wrong()).containsExactly("delayed, of them read before they were due: 1 of 6");
    }

    @Test
    void a_changed_payload_or_key_is_found() {
        Seen first = seen.getFirst();
        Order order = first.order();
        Order changed = new Order(order.way(), order.writer(), order.number(), order.customer(), 1, 0);
        seen.set(0, new Seen(changed, first.key(), first.partition(), first.offset(), first.at()));
        assertThat(wrong()).containsExactly("read as published, payload and key: 23");

        seen.set(0, new Seen(order, "somebody", first.partition(), first.offset(), first.at()));
        assertThat(wrong()).containsExactly("read as published, payload and key: 23");
    }

    @Test
    void a_row_without_a_message_and_a_message_without_a_row_are_found() {
        rows.add(new Order.Id(5, 1));
        rows.remove(new Order.Id(3, 1));
        assertThat(wrong()).containsExactly("business rows and their messages, one to one: 6 and 6");
        assertThat(text())
                .contains("order 1 of writer 5 has a row and no message")
                .contains("order 1 of writer 3 has a message and no row");
    }

    @Test
    void a_message_of_unknown_outcome_may_be_there_once_or_not_at_all() {
        Order there = order(Way.ON_ITS_OWN, 1, 7);
        send(there, UNKNOWN);
        append(there);
        send(order(Way.ON_ITS_OWN, 2, 7), UNKNOWN);
        assertThat(wrong()).isEmpty();
        assertThat(text()).contains("12 committed, 12 of them read; of 2 the outcome is unknown");
    }

    @Test
    void nothing_at_all_proves_nothing() {
        List<Proof.Line> lines = Proof.of(new Evidence(List.of(), List.of(), Set.of(), Map.of()));
        assertThat(lines).filteredOn(line -> !line.holds()).hasSize(Way.values().length);
    }

    @Test
    void only_the_first_examples_are_shown() {
        seen.clear();
        assertThat(text()).contains("- and 9 more");
    }

    private static Order order(Way way, int writer, long number) {
        int delay = way == Way.DELAYED ? 50 : 0;
        return new Order(way, writer, number, "customer-" + number % 2, 100, delay);
    }

    private Order publish(Way way, int writer, long number) {
        Order order = order(way, writer, number);
        send(order, COMMITTED);
        append(order);
        return order;
    }

    private void send(Order order, Sent.Outcome outcome) {
        sent.add(new Sent(order, outcome, clock + 1, clock + 2));
        clock += 10;
    }

    /** To the partition of its customer. */
    private void append(Order order) {
        int partition = order.customer().equals("customer-0") ? 0 : 1;
        long offset = ends.merge(partition, 1L, Long::sum) - 1;
        seen.add(new Seen(order, order.customer(), partition, offset, clock + 60 * MILLISECOND));
    }

    private Sent find(Order.Id id) {
        return sent.stream().filter(s -> s.order().id().equals(id)).findFirst().orElseThrow();
    }

    private void swapOffsets(Order.Id one, Order.Id other) {
        Seen a = seen.stream()
                .filter(s -> s.order().id().equals(one))
                .findFirst()
                .orElseThrow();
        Seen b = seen.stream()
                .filter(s -> s.order().id().equals(other))
                .findFirst()
                .orElseThrow();
        assertThat(a.partition()).isEqualTo(b.partition());
        seen.set(seen.indexOf(a), new Seen(a.order(), a.key(), a.partition(), b.offset(), a.at()));
        seen.set(seen.indexOf(b), new Seen(b.order(), b.key(), b.partition(), a.offset(), b.at()));
    }

    private Evidence evidence() {
        return new Evidence(sent, seen, rows, ends);
    }

    private List<String> wrong() {
        return Proof.of(evidence()).stream()
                .filter(line -> !line.holds())
                .map(Proof.Line::claim)
                .toList();
    }

    private String text() {
        return Proof.text(Proof.of(evidence()));
    }
}
