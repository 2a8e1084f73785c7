package dev.trunkline.consume;

import dev.trunkline.consume.Dispatcher.Result;
import dev.trunkline.consume.LetterTable.Burial;
import dev.trunkline.consume.Run.Item;
import java.sql.Connection;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Several messages in one transaction, cut into units that are never split. */
final class Batches {

    private static final int MOST_SAVEPOINTS = 50;

    private final Consumers<?> consumers;
    private final Cut cut;
    private final Transactions transactions;
    private final Results results;
    private final Parking.Marks marks;

    Batches(Consumers<?> consumers, Cut cut, Transactions transactions, Results results, Parking.Marks marks) {
        this.consumers = consumers;
        this.cut = cut;
        this.transactions = transactions;
        this.results = results;
        this.marks = marks;
    }

    /** First all at once; if that fails, again with a savepoint before each unit, to find the one that fails. */
    Result deliver(Worker worker, Run run, List<Item> items) {
        List<List<Item>> units = cut.units(items);
        long began = System.nanoTime();
        Throwable problem = null;
        try {
            transactions.run(worker, run, marks.of(run.owned, run.strand, items), connection -> {
                for (List<Item> unit : units) {
                    handle(worker, run, unit, connection);
                }
                return List.of();
            });
        } catch (Throwable e) { // whatever a handler throws, its messages have failed and the worker goes on
            problem = e;
        }
        if (!worker.end()) { // whatever came of it since: it was not committed
            return Result.ABANDONED;
        }
        if (problem == null) {
            return results.done(run, items, began);
        }
        return units.size() == 1 || Results.isOurs(problem)
                ? results.failed(run, units.getFirst(), problem, List.of())
                : apart(worker, run, units.subList(0, Math.min(units.size(), MOST_SAVEPOINTS)));
    }

    /** A unit has the time that a handler may take, whatever came before it in its transaction. */
    private void handle(Worker worker, Run run, List<Item> unit, Connection connection) throws Exception {
        Transactions.endOf(worker);
        worker.begin(run, unit, List.of());
        for (Item item : unit) {
            item.rejected = !item.strand.wants(item.message)
                    || !consumers.handle(
                            item.message, item.failures + 1, run.owned.epoch(), body -> body.on(connection));
        }
    }

    private Result apart(Worker worker, Run run, List<List<Item>> units) {
        Apart apart = new Apart(worker, run, units);
        long began = System.nanoTime();
        Throwable problem = null;
        try {
            transactions.run(worker, run, marks.of(run.owned, run.strand, apart.good), apart);
        } catch (Throwable e) { // not committed: all of it has to be done again
            problem = e;
        }
        if (!worker.end()) {
            return Result.ABANDONED;
        }
        if (problem != null) { // one that fails when it is committed is found alone
            return units.size() == 1 || Results.isOurs(problem)
                    ? results.failed(run, units.getFirst(), problem, List.of())
                    : apart(worker, run, units.subList(0, 1));
        }
        results.done(run, apart.good, began);
        if (apart.why == null) {
            return new Result(apart.over, 0, apart.stopped);
        }
        Result next = results.failed(run, apart.bad, apart.why, List.of());
        return new Result(apart.over + next.over(), next.delay(), next.stopped(), next.full());
    }

    /** Handles units one after the other, up to one that has to be tried again or stops its run; one that is given up is taken back by itself. */
    private final class Apart implements LetterTable.Body {

        private final Worker worker;
        private final Run run;
        private final List<List<Item>> units;
        private final List<Burial> burials = new ArrayList<>();
        /** Recorded as done when the transaction ends. */
        final List<Item> good = new ArrayList<>();

        int over;
        boolean stopped;
        /** What has to be tried again, and why; null: nothing. */
        List<Item> bad = List.of();

        @Nullable
        Throwable why;

        Apart(Worker worker, Run run, List<List<Item>> units) {
            this.worker = worker;
            this.run = run;
            this.units = units;
        }

        @Override
        public List<Burial> on(Connection connection) throws Exception {
            for (int i = 0; i < units.size() && why == null && !stopped; i++) {
                handle(units.get(i), connection);
            }
            return burials;
        }

        private void handle(List<Item> unit, Connection connection) throws Exception {
            Savepoint savepoint = connection.setSavepoint();
            try {
                Batches.this.handle(worker, run, unit, connection);
                connection.releaseSavepoint(savepoint);
                good.addAll(unit);
            } catch (Throwable e) { // it goes to the dead letters, or waits for its next try
                Transactions.endOf(worker);
                connection.rollback(savepoint);
                if (Results.isOurs(e) || !results.isOver(unit, e)) {
                    bad = unit;
                    why = e;
                    return;
                }
                burials.add(results.giveUp(run, unit, e));
                stopped = results.stops(run);
            }
            over += unit.size();
        }
    }
}
