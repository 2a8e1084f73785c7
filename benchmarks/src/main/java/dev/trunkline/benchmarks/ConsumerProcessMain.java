package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Member;
import dev.trunkline.benchmarks.peer.Peer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The program of a {@link ConsumerProcess}: it works until its input ends. */
final class ConsumerProcessMain {

    static final String DESIGN = "TRUNKLINE_BENCH_DESIGN";
    static final String GROUPS = "TRUNKLINE_BENCH_GROUPS";

    private static final int TELL_MILLIS = 5;

    private ConsumerProcessMain() {}

    public static void main(String[] arguments) throws Exception {
        Address address = Address.fromEnvironment();
        Design design = Design.named(System.getenv(DESIGN));
        Map<Integer, AtomicLong> handled = new TreeMap<>();
        CountDownLatch ended = new CountDownLatch(1);
        try (Peer peer = design.open(address);
                Member member = peer.join()) {
            for (int group : Arrays.stream(System.getenv(GROUPS).split(","))
                    .mapToInt(Integer::parseInt)
                    .toArray()) {
                AtomicLong mine = new AtomicLong();
                handled.put(group, mine);
                member.consume(group, letter -> mine.incrementAndGet());
            }
            Thread.ofPlatform().daemon().start(() -> awaitEnd(ended));
            while (!ended.await(TELL_MILLIS, TimeUnit.MILLISECONDS)) {
                tell(handled);
            }
        }
        tell(handled);
    }

    private static void tell(Map<Integer, AtomicLong> handled) {
        StringBuilder lines = new StringBuilder();
        handled.forEach((group, count) ->
                lines.append(group).append(' ').append(count.get()).append('\n'));
        System.out.print(lines);
        System.out.flush();
    }

    private static void awaitEnd(CountDownLatch ended) {
        try {
            while (System.in.read() >= 0) {
                // only the end counts
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            ended.countDown();
        }
    }
}
