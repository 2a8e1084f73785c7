package dev.trunkline.server.http;

import dev.trunkline.GroupStatus;
import dev.trunkline.PullConsumer;
import dev.trunkline.PullOptions;
import dev.trunkline.Trunkline;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** What this server pulls with: one consumer for each group, so that of many callers who wait for the same, one looks. */
final class Consumers implements AutoCloseable {

    private static final int FEW = 100;

    private final Trunkline trunkline;
    private final Map<Place, PullConsumer<byte[]>> known = new ConcurrentHashMap<>();
    /** When there are so many, it is looked who is gone. */
    private volatile int most = FEW;

    private volatile boolean closed;

    Consumers(Trunkline trunkline) {
        this.trunkline = trunkline;
    }

    /** Makes a group, unless there is one. Who waits for it already goes on waiting. */
    void make(Place place, PullOptions options) {
        keep(place, trunkline.pull(place.group(), place.topic(), byte[].class, options));
    }

    /** Of a group that there is: none is made, or made anew after it was cancelled, by pulling from it. */
    PullConsumer<byte[]> of(Place place) {
        PullConsumer<byte[]> consumer = known.get(place);
        if (consumer != null) {
            return consumer;
        }
        if (trunkline
                .admin()
                .find(place.group(), place.topic())
                .filter(its -> its.status() != GroupStatus.CANCELLED)
                .isEmpty()) {
            throw place.isNot(trunkline).with("hint", "make it first: PUT " + PullRoutes.GROUP);
        }
        return keep(place, trunkline.pull(place.group(), place.topic(), byte[].class, PullOptions.fromNow()));
    }

    private PullConsumer<byte[]> keep(Place place, PullConsumer<byte[]> made) {
        if (known.size() >= most) {
            forgetTheDead();
        }
        PullConsumer<byte[]> before = known.putIfAbsent(place, made);
        PullConsumer<byte[]> kept = before == null ? made : before;
        if (closed) {
            kept.close();
        }
        return kept;
    }

    /** Groups that were cancelled, or went with their topics. How many are kept is at most twice as many as live, or a few. */
    private void forgetTheDead() {
        Set<List<String>> alive = trunkline.admin().groups().stream()
                .filter(its -> its.status() != GroupStatus.CANCELLED)
                .map(its -> List.of(its.name(), its.topic()))
                .collect(Collectors.toSet());
        for (Place place : List.copyOf(known.keySet())) {
            if (!alive.contains(List.of(place.group(), place.topic()))) {
                PullConsumer<byte[]> dead = known.remove(place);
                if (dead != null) {
                    dead.close();
                }
            }
        }
        most = Math.max(FEW, 2 * known.size());
    }

    /** Who waits for messages gets none. */
    @Override
    public void close() {
        closed = true;
        known.values().forEach(PullConsumer::close);
    }
}
