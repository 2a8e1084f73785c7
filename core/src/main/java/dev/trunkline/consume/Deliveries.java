package dev.trunkline.consume;

import dev.trunkline.consume.Dispatcher.Result;
import dev.trunkline.consume.Run.Item;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** The calls of consumers: a turn of a run, message by message, or as a batch in one transaction. */
final class Deliveries {

    private static final long SETTLE_AFTER = TimeUnit.MILLISECONDS.toNanos(200);
    private static final Result LATER = new Result(0, TimeUnit.MILLISECONDS.toNanos(100), false);

    private final Consumers<?> consumers;
    private final Cut cut;
    private final Batches batches;
    private final Transactions transactions;
    private final Results results;
    private final Parking.Marks marks;
    private final Predicate<Owned> live;

    Deliveries(
            Consumers<?> consumers,
            Cut cut,
            Transactions transactions,
            Results results,
            Parking.Marks marks,
            Predicate<Owned> live) {
        this.consumers = consumers;
        this.cut = cut;
        this.batches = new Batches(consumers, cut, transactions, results, marks);
        this.transactions = transactions;
        this.results = results;
        this.marks = marks;
        this.live = live;
    }

    Result deliver(Worker worker, Run run, List<Item> items) {
        if (cut.isSingle()) {
            return oneByOne(worker, run, items);
        }
        return live.test(run.owned) ? batches.deliver(worker, run, items) : LATER;
    }

    private Result oneByOne(Worker worker, Run run, List<Item> items) {
        List<Item> handled = new ArrayList<>(); // and parked, and not yet recorded as done
        long since = System.nanoTime();
        int over = 0;
        Result last = LATER;
        for (Item item : items) {
            last = live.test(run.owned) ? one(worker, run, item, items.subList(0, over), handled) : LATER;
            over += last.over();
            if (last.over() == 0 || last.stopped()) {
                break;
            }
            if (System.nanoTime() - since > SETTLE_AFTER) {
                results.settle(run, handled);
                since = System.nanoTime();
            }
        }
        results.settle(run, handled);
        return new Result(over, last.delay(), last.stopped(), last.full());
    }

    private Result one(Worker worker, Run run, Item item, List<Item> before, List<Item> handled) {
        Throwable problem = null;
        boolean[] recorded = new boolean[1];
        List<Item> unit = List.of(item);
        long began = System.nanoTime();
        worker.begin(run, unit, before);
        try {
            item.rejected = !consumers.handle(item.message, item.failures + 1, run.owned.epoch(), body -> {
                transactions.run(worker, run, marks.of(run.owned, run.strand, unit), connection -> {
                    worker.begin(run, unit, before);
                    body.on(connection);
                    return List.of();
                });
                recorded[0] = true;
            });
        } catch (Throwable e) { // whatever a handler throws, its message has failed and the worker goes on
            problem = e;
        }
        if (!worker.end()) {
            return Result.ABANDONED;
        }
        if (problem != null) {
            return results.failed(run, unit, problem, before);
        }
        if (item.parked && !recorded[0]) {
            handled.add(item);
            return results.tell(unit, began);
        }
        return results.done(run, unit, began);
    }
}
