package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.peer.Design;
import dev.trunkline.benchmarks.peer.Peer;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Peers that are open, with their brokers. */
final class Peers implements AutoCloseable {

    private final Map<Design, Peer> open = new LinkedHashMap<>();

    Peers(Workbench bench, List<Design> designs) throws Exception {
        try {
            for (Design design : designs) {
                open.put(design, design.open(bench.address()));
            }
        } catch (Exception e) {
            close();
            throw e;
        }
    }

    Map<Design, Peer> all() {
        return Collections.unmodifiableMap(open);
    }

    /** The last first. */
    @Override
    public void close() {
        Deque<Peer> left = new ArrayDeque<>(open.values());
        while (!left.isEmpty()) {
            left.removeLast().close();
        }
    }
}
