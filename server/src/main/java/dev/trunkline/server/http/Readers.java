package dev.trunkline.server.http;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Who reads metrics. He is remembered for a while: when the database is away nobody can be asked who he is, and that is when metrics are needed most. For nothing
 * else is anybody believed without being asked for.
 */
final class Readers {

    private static final Duration MEMORY = Duration.ofHours(1);
    private static final int MOST = 100;

    private final Map<ByteBuffer, Known> known = new ConcurrentHashMap<>();

    private record Known(Caller caller, long since) {}

    /** Whoever it is, if he may, or might not long ago and nobody can say now. */
    Caller authorize(Exchange exchange, Callable<Caller> authorization) throws Exception {
        ByteBuffer key =
                ByteBuffer.wrap(ApiKeys.hash(exchange.header("Authorization").orElse("")));
        try {
            Caller caller = authorization.call();
            if (known.size() < MOST || known.containsKey(key)) {
                known.put(key, new Known(caller, System.nanoTime()));
            }
            return caller;
        } catch (Exception e) {
            Known before = known.get(key);
            boolean away =
                    Problem.of(e).filter(problem -> problem.status() == 503).isPresent();
            if (before == null || !away || System.nanoTime() - before.since() > MEMORY.toNanos()) {
                known.remove(key);
                throw e;
            }
            return before.caller();
        }
    }
}
