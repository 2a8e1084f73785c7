package dev.trunkline.server.http;

import dev.trunkline.server.Address;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How a server is to be.
 *
 * @param database empty: it has one of its own
 * @param directUrl leads to the given one without a pooler
 * @param data where that of its own keeps its data
 * @param schema the installation's schema there
 * @param mostBytes of a request's body, but for streams
 * @param requestsPerSecond of each caller
 * @param openRequests of each caller at a time: who waits, and streams, too
 * @param guarded whether callers need a key; if not, whoever can reach it may do everything
 * @param issuer whose JWTs are as good as keys
 */
public record ServerOptions(
        Optional<Address> database,
        Optional<String> directUrl,
        Path data,
        String schema,
        String host,
        int port,
        long mostBytes,
        int requestsPerSecond,
        int openRequests,
        boolean guarded,
        Optional<Issuer> issuer,
        Optional<Tls> tls) {

    private static final int OPEN_REQUESTS = 2_000;

    /** For callers on this machine, who need a key, at a port that is free. */
    public static ServerOptions local(Address database, long mostBytes) {
        return new ServerOptions(
                Optional.of(database),
                Optional.empty(),
                Path.of("."),
                database.schema(),
                "127.0.0.1",
                0,
                mostBytes,
                1_000_000,
                OPEN_REQUESTS,
                true,
                Optional.empty(),
                Optional.empty());
    }

    public ServerOptions withPort(int another) {
        return with(another, requestsPerSecond, openRequests, guarded, issuer, tls);
    }

    /** The same, with so many requests a second of each caller. */
    public ServerOptions withRequestsPerSecond(int most) {
        return with(port, most, openRequests, guarded, issuer, tls);
    }

    /** The same, with so many requests of each caller at a time. */
    public ServerOptions withOpenRequests(int most) {
        return with(port, requestsPerSecond, most, guarded, issuer, tls);
    }

    /** Whoever can reach it may do everything. */
    public ServerOptions unguarded() {
        return with(port, requestsPerSecond, openRequests, false, issuer, tls);
    }

    public ServerOptions withIssuer(Issuer whose) {
        return with(port, requestsPerSecond, openRequests, guarded, Optional.of(whose), tls);
    }

    public ServerOptions withTls(Tls shown) {
        return with(port, requestsPerSecond, openRequests, guarded, issuer, Optional.of(shown));
    }

    private ServerOptions with(
            int at, int perSecond, int atATime, boolean keys, Optional<Issuer> whose, Optional<Tls> shown) {
        return new ServerOptions(
                database, directUrl, data, schema, host, at, mostBytes, perSecond, atATime, keys, whose, shown);
    }

    /**
     * Whose JWTs are good.
     *
     * @param audience whom they must be for
     * @param keys where the issuer's keys are
     */
    public record Issuer(String name, String audience, URI keys) {}

    /** What the server shows of itself: a key and its certificate, in a PKCS #12 file. */
    public record Tls(Path keystore, String password) {

        @Override
        public String toString() {
            return keystore.toString();
        }
    }
}
