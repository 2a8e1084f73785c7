package dev.trunkline.faults;

import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * What publishers of a trial did, by their journals.
 *
 * @param transactions of their own that they published in
 * @param rollbacks those of them that were not committed
 * @param refused publishes without one that failed
 */
record Deeds(int transactions, int rollbacks, int refused) {

    static Deeds read(Path journals) throws IOException {
        Set<String> transactions = new HashSet<>();
        Set<String> others = new HashSet<>();
        Set<String> failed = new HashSet<>();
        each(journals, event -> {
            if (event instanceof Event.Publish publish) {
                (publish.way() == Way.WORK ? transactions : others).add(publish.call());
            } else if (event instanceof Event.End end && end.outcome() == Outcome.FAILED) {
                failed.add(end.call());
            }
        });
        return new Deeds(transactions.size(), among(failed, transactions), among(failed, others));
    }

    private static int among(Set<String> failed, Set<String> calls) {
        return (int) failed.stream().filter(calls::contains).count();
    }

    /** How many nanoseconds 99 of 100 publishes took at most that began after a time, until now. */
    static long publishedWithin(Path journals, long since) throws IOException {
        Map<String, Long> began = new HashMap<>();
        List<Long> took = new ArrayList<>();
        each(journals, event -> {
            if (event instanceof Event.Publish publish && publish.way() == Way.PUBLISH && publish.time() >= since) {
                began.put(publish.call(), publish.time());
            } else if (event instanceof Event.End end && began.containsKey(end.call())) {
                took.add(end.time() - began.remove(end.call()));
            }
        });
        // What still waits has taken that long at least.
        long now = System.nanoTime();
        began.values().forEach(time -> took.add(now - time));
        Collections.sort(took);
        return took.get(took.size() * 99 / 100);
    }

    private static void each(Path journals, Consumer<Event> consumer) throws IOException {
        try (Stream<Path> files = Files.list(journals)) {
            for (Path file : files.filter(path -> path.getFileName().toString().matches("publisher.*\\.journal"))
                    .toList()) {
                eachOf(file, consumer);
            }
        }
    }

    /** What a journal says. A line that is not written to its end yet is none. */
    static void eachOf(Path journal, Consumer<Event> consumer) throws IOException {
        String text = Files.readString(journal);
        text.substring(0, text.lastIndexOf('\n') + 1).lines().map(Event::parse).forEach(consumer);
    }
}
