package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.peer.Design;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Small and large messages: Trunkline against others. */
final class Payload implements Scenario {

    private static final int LOADERS = 4;
    private static final int BATCH = 20;
    private static final int MOST_BYTES_AHEAD = 64 * 1024 * 1024;
    private static final List<String> FIT = List.of("trunkline", "textbook-batches", "kafka", "kafka-flush");

    @Override
    public String name() {
        return "payload";
    }

    @Override
    public String summary() {
        return "publishing batches of 20 and handling them with 100 bytes to 100 kB a message; against others";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        List<Design> designs = bench.reliable(design -> FIT.contains(design.name()));
        List<Result> results = new ArrayList<>();
        try (Peers peers = new Peers(bench, designs)) {
            for (int bytes : bench.effort().series().payloads()) {
                byte[] payload = new byte[bytes];
                new Random(bytes).nextBytes(payload);
                PeerTurn turn = new PeerTurn(1, LOADERS, BATCH).withPayload(payload, MOST_BYTES_AHEAD / bytes);
                new PeerContest(bench.forPeers(), name(), turn)
                        .run(peers.all(), design -> Target.none()).stream()
                                .map(result -> result.at("bytes", bytes)
                                        .with("megabytesPerSecond", result.value() * bytes / 1e6))
                                .forEach(results::add);
            }
        }
        return results;
    }
}
