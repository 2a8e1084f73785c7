package dev.trunkline.server.http;

import java.sql.SQLException;
import java.util.Optional;

/** Knows who a caller is by what he shows. */
@FunctionalInterface
interface Guard {

    /** Who shows this; empty: nobody whom we know, or no longer. */
    Optional<Caller> find(String token) throws SQLException;

    /** Asks another one if this one does not know him. */
    default Guard or(Guard other) {
        return token -> {
            Optional<Caller> found = find(token);
            return found.isPresent() ? found : other.find(token);
        };
    }
}
