package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Design.Trait;
import dev.trunkline.benchmarks.peer.Letter;
import dev.trunkline.benchmarks.peer.Member;
import dev.trunkline.benchmarks.peer.Peer;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Transactions that publish and commit late, while others come after them and commit first: how many of the late messages never arrive,
 * and how many of the others' had to wait for them.
 */
final class PeersLateCommit implements Scenario {

    private static final int LATE = 100;
    private static final int OTHERS = 1_000;
    private static final int MOST_ROUNDS = 3;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);

    @Override
    public String name() {
        return "peers-late-commit";
    }

    @Override
    public String summary() {
        return "100 messages whose transaction commits after that of 1,000 later ones: how many arrive, for each design";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        List<Result> results = new ArrayList<>();
        int rounds = Math.min(MOST_ROUNDS, bench.effort().repetitions());
        for (Design design : bench.systems(fit -> fit.has(Trait.TRANSACTIONAL))) {
            bench.progress("%s: %s".formatted(name(), design.name()));
            try (Peer peer = design.open(bench.address())) {
                results.add(result(bench, design, peer, rounds));
            }
        }
        return results;
    }

    private Result result(Workbench bench, Design design, Peer peer, int rounds) throws Exception {
        double[] arrived = new double[rounds];
        double[] sent = new double[rounds];
        double meanwhile = 0;
        for (int i = 0; i < rounds; i++) {
            Arrivals arrivals = new Arrivals();
            meanwhile += round(bench, peer, arrivals) / rounds;
            arrived[i] = arrivals.count(0, LATE);
            sent[i] = LATE;
        }
        double lost = LATE * rounds - Arrays.stream(arrived).sum();
        return Result.of(
                        name() + "-" + design.name(),
                        "late messages that arrived",
                        arrived,
                        design.words() + "; sent",
                        sent,
                        Numbers.ratios(arrived, sent),
                        design.equals(Design.TRUNKLINE) ? new Target("exactly 1", ratio -> lost == 0) : Target.none())
                .with("lost", lost)
                .with("othersThatArrivedBeforeTheLateCommit", meanwhile);
    }

    /** Returns the part of the others' messages that has arrived before the late commit. */
    private static double round(Workbench bench, Peer peer, Arrivals arrivals) throws Exception {
        peer.clear(1);
        try (Member member = peer.join();
                Connection late = bench.address().connect()) {
            member.consume(0, arrivals::add);
            late.setAutoCommit(false);
            member.send(late, letters(0, LATE));
            CompletableFuture<Void> others = CompletableFuture.runAsync(() -> publishOthers(bench, member));
            arrivals.await(LATE, LATE + OTHERS);
            double meanwhile = (double) arrivals.count(LATE, LATE + OTHERS) / OTHERS;
            late.commit();
            others.join();
            arrivals.await(0, LATE + OTHERS);
            return meanwhile;
        }
    }

    private static void publishOthers(Workbench bench, Member member) {
        try (Connection connection = bench.address().connect()) {
            connection.setAutoCommit(false);
            for (int i = LATE; i < LATE + OTHERS; i += LATE) {
                member.send(connection, letters(i, i + LATE));
                connection.commit();
            }
        } catch (SQLException e) {
            throw new CompletionException(e);
        }
    }

    private static List<Letter> letters(int from, int to) {
        List<Letter> letters = new ArrayList<>();
        for (int i = from; i < to; i++) {
            byte[] payload = Samples.payload().clone();
            ByteBuffer.wrap(payload).putInt(i);
            letters.add(new Letter(Samples.key(), payload));
        }
        return letters;
    }

    /** Which messages have arrived. */
    private static final class Arrivals {
        private final ReentrantLock lock = new ReentrantLock();
        private final BitSet numbers = new BitSet();

        void add(Letter letter) {
            lock.lock();
            try {
                numbers.set(ByteBuffer.wrap(letter.payload()).getInt());
            } finally {
                lock.unlock();
            }
        }

        int count(int from, int to) {
            lock.lock();
            try {
                return numbers.get(from, to).cardinality();
            } finally {
                lock.unlock();
            }
        }

        /** Waits until all of them are there, or none has come for a while. */
        void await(int from, int to) {
            long last = System.nanoTime();
            int seen = 0;
            while (seen < to - from && System.nanoTime() - last < PATIENCE) {
                int now = count(from, to);
                if (now > seen) {
                    seen = now;
                    last = System.nanoTime();
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }
}
