package dev.trunkline.consume;

import dev.trunkline.ConsumerGroupException;
import dev.trunkline.Receipt;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Waits until a group has handled a message, wherever its members run. */
final class Awaiting {

    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(20);

    private final Calls calls;
    private final String group;
    private final Receipt receipt;
    private final Runnable record;
    private final long deadline;

    /** @param record has what this process did recorded */
    Awaiting(Calls calls, String group, Receipt receipt, Runnable record, Duration timeout) {
        this.calls = calls;
        this.group = group;
        this.receipt = receipt;
        this.record = record;
        this.deadline = System.nanoTime() + timeout.toNanos();
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Part(Integer[] strands, Long[] from, Long[] to) {}

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Bounds(int levels, Long[] ends) {}

    /** Whether it was handled in time. */
    boolean run() throws InterruptedException {
        if (receipt.offset().isEmpty()) {
            while (!calls.ask("hasOffset", receipt.topic(), receipt.id())) {
                if (!pause()) {
                    return false;
                }
            }
        }
        Part part = part();
        while (true) {
            record.run();
            String fate = calls.call(
                    "fate",
                    row -> {
                        row.next();
                        return row.getString(1);
                    },
                    group,
                    receipt.topic(),
                    receipt.id(),
                    part.strands(),
                    part.from(),
                    part.to());
            if (fate.equals("DEAD")) {
                throw new ConsumerGroupException("group \"" + group + "\" has given message " + receipt.id()
                        + " up: it is among its dead letters");
            }
            if (fate.equals("DONE")) {
                return true;
            }
            if (!pause()) {
                return false;
            }
        }
    }

    /** Its place, if that is known; else all that is in the log by now, of which it is a part. */
    private Part part() {
        Bounds bounds = calls.call(
                "bounds",
                row -> row.next()
                        ? new Bounds(row.getInt(1), (Long[]) row.getArray(2).getArray())
                        : new Bounds(0, new Long[0]),
                receipt.topic());
        if (receipt.offset().isPresent() && receipt.partition().isPresent() && bounds.levels() == 1) {
            long offset = receipt.offset().getAsLong();
            return new Part(
                    new Integer[] {receipt.partition().getAsInt()}, new Long[] {offset}, new Long[] {offset + 1});
        }
        int strands = bounds.ends().length;
        return new Part(
                IntStream.range(0, strands).boxed().toArray(Integer[]::new),
                IntStream.range(0, strands).mapToObj(strand -> 0L).toArray(Long[]::new),
                bounds.ends());
    }

    private boolean pause() throws InterruptedException {
        long left = deadline - System.nanoTime();
        if (left > 0) {
            TimeUnit.NANOSECONDS.sleep(Math.min(left, PAUSE));
        }
        return left > 0;
    }
}
