package dev.trunkline.server.http;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.component.AbstractLifeCycle;

/**
 * Hangs up on who has begun a request and does not come to the end of its headers. A connection that says a byte now and then is never idle, so the library
 * keeps it for ever; and those are counted.
 */
final class Dawdlers extends AbstractLifeCycle {

    private static final Duration LOOK = Duration.ofSeconds(1);

    private final ServerConnector connector;
    private final Duration patience;
    private final LongSupplier nanos;
    private final Map<EndPoint, Seen> seen = new HashMap<>();

    /**
     * What was seen of a connection.
     *
     * @param requests that have come with all their headers
     * @param bytes that had come when it was seen first with so many
     * @param since when it has begun the next one, if it has; a new one has
     */
    private record Seen(long requests, long bytes, long since, boolean begun) {}

    Dawdlers(ServerConnector connector, Duration patience, LongSupplier nanos) {
        this.connector = connector;
        this.patience = patience;
        this.nanos = nanos;
    }

    @Override
    protected void doStart() {
        next();
    }

    private void next() {
        connector.getScheduler().schedule(this::lookAndGoOn, LOOK.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void lookAndGoOn() {
        if (isRunning()) {
            look(connector.getConnectedEndPoints());
            next();
        }
    }

    private void look(Collection<EndPoint> connected) {
        seen.keySet().retainAll(connected);
        long now = nanos.getAsLong();
        for (EndPoint each : connected) {
            Connection outer = each.getConnection();
            if (outer == null) {
                continue;
            }
            Connection http =
                    outer instanceof SslConnection tls ? tls.getSslEndPoint().getConnection() : outer;
            long requests = http == null ? 0 : http.getMessagesIn();
            Seen its = seen.get(each);
            if (its == null || its.requests != requests) {
                seen.put(each, new Seen(requests, outer.getBytesIn(), now, requests == 0));
            } else if (!its.begun && http != null && isAnswered(http) && outer.getBytesIn() != its.bytes) {
                seen.put(each, new Seen(requests, its.bytes, now, true));
            } else if (its.begun && now - its.since > patience.toNanos()) {
                each.close();
            }
        }
    }

    /** Until then what comes is the body of the request. */
    private static boolean isAnswered(Connection http) {
        return http.getMessagesOut() >= http.getMessagesIn();
    }
}
