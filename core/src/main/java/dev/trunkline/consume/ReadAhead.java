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
 * While a group's loop hands out what was read, reads what comes after it, if a strand brought as much as was asked for: of all that were
 * asked for, so that none waits until another comes to its end. For the group's loop alone.
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
        start(strands, positions, found, most);
        return found;
    }

    private void await() {
        FutureTask<Map<Integer, List<LogMessage>>> task = underWay;
        underWay = null;
        if (task == null) {
            return;
        }
        try {
            task.get().forEach((strand, messages) -> {
                if (!messages.isEmpty()) {
                    ahead.put(strand, messages);
                }
            });
        } catch (ExecutionException e) {
            ahead.clear(); // to read it again tells what is wrong, or succeeds
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void start(int[] strands, long[] positions, Map<Integer, List<LogMessage>> found, int most) {
        if (found.values().stream().noneMatch(messages -> messages.size() >= most)) {
            return;
        }
        long[] next = positions.clone();
        for (int i = 0; i < strands.length; i++) {
            List<LogMessage> messages = found.getOrDefault(strands[i], List.of());
            if (!messages.isEmpty()) {
                next[i] = messages.getLast().offset() + 1;
            }
        }
        FutureTask<Map<Integer, List<LogMessage>>> task = new FutureTask<>(() -> reading.read(strands, next, most));
        underWay = task;
        Thread.ofVirtual().name("trunkline-read-ahead").start(task);
    }
}
