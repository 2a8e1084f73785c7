package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Letter;
import dev.trunkline.benchmarks.peer.Member;
import dev.trunkline.benchmarks.peer.Peer;
import dev.trunkline.benchmarks.peer.Sender;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** From the time at which a message should be sent to its handler, at a pace that is easy for all. */
final class PeersLatency implements Scenario {

    private static final Pace PACE = new Pace(1, 100);

    @Override
    public String name() {
        return "peers-latency";
    }

    @Override
    public String summary() {
        return "publish to handler at 100 messages/s, one at a time, in one process; against others";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        try (Peers peers = new Peers(bench, bench.reliable(design -> true))) {
            Contest contest = new Contest(bench.forPeers(), name());
            Map<Design, Histogram> all = new LinkedHashMap<>();
            peers.all().forEach((design, peer) -> {
                Histogram mine = Pace.latencies();
                all.put(design, mine);
                contest.with(design.name(), seconds -> median(peer, seconds, mine));
            });
            Contest.Turns turns = contest.run();
            return peers.all().keySet().stream()
                    .filter(design -> !design.equals(Design.TRUNKLINE))
                    .map(design -> turns.compare(
                                    name(),
                                    "ms, median",
                                    Design.TRUNKLINE.name(),
                                    design.name(),
                                    design.words(),
                                    Target.none())
                            .with("system", design.name())
                            .with(Design.TRUNKLINE.name(), percentiles(all, Design.TRUNKLINE))
                            .with(design.name(), percentiles(all, design)))
                    .toList();
        }
    }

    private static double median(Peer peer, double seconds, Histogram all) throws Exception {
        Histogram latencies = Pace.latencies();
        peer.clear(1);
        try (Member member = peer.join();
                Flow flow = new Flow(1, Integer.MAX_VALUE)) {
            Sender sender = member.sender();
            member.consume(0, letter -> {
                Pace.record(latencies, ByteBuffer.wrap(letter.payload()).getLong());
                flow.handled(0);
            });
            sender.send(List.of(stamped(System.nanoTime())));
            flow.await(1);
            latencies.reset();
            long sent = PACE.keep(seconds, due -> {
                sender.send(List.of(stamped(due)));
                return 1;
            });
            flow.await(1 + sent);
        }
        all.add(latencies);
        return Pace.millis(latencies, 50);
    }

    private static Letter stamped(long nanoTime) {
        byte[] payload = Samples.payload().clone();
        ByteBuffer.wrap(payload).putLong(nanoTime);
        return new Letter(Samples.key(), payload);
    }

    /** Of all turns together, the warm-up included. */
    private static Map<String, Object> percentiles(Map<Design, Histogram> all, Design design) {
        Histogram latencies = all.getOrDefault(design, Pace.latencies());
        Map<String, Object> percentiles = new LinkedHashMap<>();
        for (double percentile : List.of(50.0, 95.0, 99.0, 100.0)) {
            percentiles.put("p%.0f".formatted(percentile), Result.digits(Pace.millis(latencies, percentile)));
        }
        return percentiles;
    }
}
