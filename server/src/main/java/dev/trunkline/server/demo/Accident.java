package dev.trunkline.server.demo;

import dev.trunkline.server.Address;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The second process, which is killed in mid-run, and replaced once the first one has taken over. */
final class Accident implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Address address;
    private final Path notes;
    private final Books books;
    private Child child;

    /**
     * What happened.
     *
     * @param partitions how many the process held that was killed
     * @param owned whether they had an owner again after that many milliseconds, or patience ended
     * @param heir the process that took its place
     */
    record Loss(long process, int partitions, boolean owned, long millis, long heir) {}

    Accident(Address address, Path notes, Books books) throws IOException {
        this.address = address;
        this.notes = notes;
        this.books = books;
        this.child = Child.start(address, notes);
    }

    Loss happen(Consumer<String> story) throws Exception {
        long victim = child.process().pid();
        await(() -> held(victim) > 0);
        int lost = held(victim);
        long began = System.nanoTime();
        child.kill();
        story.accept("process " + victim + " is killed, which holds " + lost + " partitions");
        boolean owned = await(() -> isAllOwnedWithout(victim));
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        child = Child.start(address, notes);
        long heir = child.process().pid();
        story.accept("process " + heir + " takes its place");
        await(() -> held(heir) > 0);
        return new Loss(victim, lost, owned, millis, heir);
    }

    private int held(long process) throws SQLException {
        return books.holders().getOrDefault(process, 0);
    }

    private boolean isAllOwnedWithout(long process) throws SQLException {
        Map<Long, Integer> holders = books.holders();
        return !holders.containsKey(process)
                && holders.values().stream().mapToInt(Integer::intValue).sum() == Members.ALL_PARTITIONS;
    }

    private static boolean await(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.call()) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        child.close();
    }
}
