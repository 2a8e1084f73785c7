package dev.trunkline.server.http;

import java.net.URI;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Who may ask where nobody has to say who he is: programs on this machine. A page in a browser on it is no such program: it can send requests here, and reach
 * this server under any name that it likes.
 */
final class Neighbours {

    private static final Pattern LOOPBACK = Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[?::1]?");

    private Neighbours() {}

    /** Refuses what comes from a page of somebody else, or is sent to a name that is not this machine's own. */
    static void require(Exchange exchange) {
        Optional<String> origin = exchange.header("Origin");
        boolean elsewhere = exchange.header("Sec-Fetch-Site")
                .filter(site -> site.equals("cross-site") || site.equals("same-site"))
                .isPresent();
        if (!isLoopback(exchange.host()) || elsewhere || (origin.isPresent() && !isLoopbackOrigin(origin.get()))) {
            throw new Problem(
                    403, "this server asks nobody who he is, so it serves programs on this machine only, not pages");
        }
    }

    private static boolean isLoopback(String host) {
        return LOOPBACK.matcher(host.toLowerCase(Locale.ROOT)).matches();
    }

    private static boolean isLoopbackOrigin(String origin) {
        try {
            String host = URI.create(origin).getHost();
            return host != null && isLoopback(host);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
