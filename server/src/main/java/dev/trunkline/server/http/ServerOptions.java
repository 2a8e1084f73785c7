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
        boolean guarded,
        Optional<Issuer> issuer,
        Optional<Tls> tls) {

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
                true,
                Optional.empty(),
                Optional.empty());
    }

    /** The same, with so many requests a second of each caller. */
    public ServerOptions withRequestsPerSecond(int most) {
        return new ServerOptions(database, directUrl, data, schema, host, port, mostBytes, most, guarded, issuer, tls);
    }

    /** Whoever can reach it may do everything. */
    public ServerOptions unguarded() {
        return new ServerOptions(
                database, directUrl, data, schema, host, port, mostBytes, requestsPerSecond, false, issuer, tls);
    }

    public ServerOptions withIssuer(Issuer whose) {
        return new ServerOptions(
                database,
                directUrl,
                data,
                schema,
                host,
                port,
                mostBytes,
                requestsPerSecond,
                guarded,
                Optional.of(whose),
                tls);
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
