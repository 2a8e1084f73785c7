package dev.trunkline.consume;

import dev.trunkline.LogMessage;
import dev.trunkline.log.SegmentedLog.Reading;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * While a group's loop hands out what was read, reads what comes after it: once, of the strands that brought as much as was asked for.
 * For the group's loop alone.
 */
final class ReadAhead {

    private final Reading reading;
    /** What was read ahead and not asked for yet, by strand. */
    private final Map<Integer, List<LogMessage>> ahead = new HashMap<>();

    private @Nullable FutureTask<Map<Integer, List<LogMessage>>> underWay;

    ReadAhead(Reading reading) {
        this.reading = reading;
    }

    /** Messages of some strands from their positions on, at most so many of each, by strand. */
    Map<Integer, List<LogMessage>> read(int[] strands, long[] positions, int most) {
        await();
        Map<Integer, List<LogMessage>> found = new HashMap<>();
        for (int i = 0; i < strands.length; i++) {
            List<LogMessage> messages = ahead.remove(strands[i]);
            if (messages != null && messages.getFirst().offset() == positions[i]) {
                found.put(strands[i], messages);
            }
        }
        if (found.isEmpty()) {
            found = reading.read(strands, positions, most);
        }
        start(found, most);
        return found;
    }

    private void await() {
        FutureTask<Map<Integer, List<LogMessage>>> task = underWay;
        underWay = null;
        if (task == null) {
            return;
        }
        try {
            ahead.putAll(task.get());
        } catch (ExecutionException e) {
            ahead.clear(); // to read it again tells what is wrong, or succeeds
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void start(Map<Integer, List<LogMessage>> found, int most) {
        int[] strands = found.keySet().stream()
                .filter(strand -> found.getOrDefault(strand, List.of()).size() >= most)
                .mapToInt(strand -> strand)
                .toArray();
        if (strands.length == 0) {
            return;
        }
        long[] positions = new long[strands.length];
        for (int i = 0; i < strands.length; i++) {
            positions[i] = found.getOrDefault(strands[i], List.of()).getLast().offset() + 1;
        }
        FutureTask<Map<Integer, List<LogMessage>>> task =
                new FutureTask<>(() -> reading.read(strands, positions, most));
        underWay = task;
        Thread.ofVirtual().name("trunkline-read-ahead").start(task);
    }
}
