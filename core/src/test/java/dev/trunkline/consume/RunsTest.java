package dev.trunkline.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.Batching;
import dev.trunkline.LogMessage;
import dev.trunkline.consume.Dispatcher.Result;
import dev.trunkline.consume.Run.Item;
import dev.trunkline.testing.LogMessages;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RunsTest {

    private final Strand strand = new Strand(0, new Long[0], new Long[0]);
    private final Owned owned = new Owned(0, 1, List.of(strand));
    private final Runs runs = new Runs(new Cut(Batching.single(), true), new Ready(1, 1), () -> {});

    /** The enemy: it counts as under way for ever, and no other suspect is ever begun. */
    @Test
    void a_message_that_was_noted_and_is_parked_before_it_has_begun_is_not_under_way() {
        strand.orphan(100);
        offer(1);
        List<Run> held = runs.takeHeld(run -> true);
        runs.note(held);
        assertThat(runs.noted()).isOne();
        Run run = held.getFirst();
        run.parked = true; // one that came before it on its key is redriven
        runs.putBackArrivals(run);
        runs.takeArrivals(each -> true).forEach(runs::parked);
        assertThat(runs.noted()).isZero();
    }

    /** The enemy: the log has lost its end, and with it who could have died. */
    @Test
    void what_is_parked_stays_suspect_though_nothing_of_the_log_is() {
        strand.orphan(100);
        strand.acquitFrom(0);
        Item item = new Item(message(0), strand, 0, false);
        assertThat(item.isSuspect()).isFalse();
        item.parked = true;
        assertThat(item.isSuspect()).isTrue();
    }

    /** The enemy: all that waits behind a handler that never returns takes room for ever, and nothing is read any more. */
    @Test
    void what_waits_behind_a_handler_in_a_partition_that_is_given_up_takes_no_room() {
        offer(50);
        long each = runs.bytes() / 50;
        List<Item> turn = new ArrayList<>();
        Run run = begin(turn);
        owned.stop();
        runs.drop(owned);
        assertThat(runs.bytes()).isEqualTo(turn.size() * each);
        runs.abandon(run, turn.subList(3, 4), turn, false);
        assertThat(runs.bytes()).isZero();
        turn.removeIf(item -> !item.over);
        runs.finish(run, turn, new Result(turn.size(), 0, false));
        assertThat(runs.bytes()).isZero();
    }

    /** The enemy: a few large messages whose handlers never return, and nothing is read any more. */
    @Test
    void what_is_over_takes_no_room_though_its_handler_has_not_returned() {
        offer(4);
        long each = runs.bytes() / 4;
        List<Item> turn = new ArrayList<>();
        Run run = begin(turn);
        runs.over(owned, turn.subList(0, 2));
        assertThat(runs.bytes()).isEqualTo(2 * each);
        runs.finish(run, turn, new Result(4, 0, false));
        assertThat(runs.bytes()).isZero();
        assertThat(strand.cursor()).isEqualTo(4);
    }

    private Run begin(List<Item> turn) {
        Run run = Objects.requireNonNull(runs.next(any -> true));
        runs.take(run, turn);
        return run;
    }

    private void offer(int count) {
        runs.offer(
                owned,
                strand,
                LongStream.range(0, count).mapToObj(RunsTest::message).toList());
    }

    private static LogMessage message(long offset) {
        return LogMessages.at(offset, "k", true, 10);
    }
}
