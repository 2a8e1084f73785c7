package dev.trunkline.observability;

import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import java.util.concurrent.atomic.AtomicInteger;

/** A fresh database on a real PostgreSQL, one server for all tests. */
record Place(String database) {

    private static final AtomicInteger COUNT = new AtomicInteger();

    private static final class Server {
        static final EmbeddedPostgres POSTGRES =
                EmbeddedPostgres.temporary().unsafeFast().start();
    }

    static Place fresh() {
        String name = "observed_" + COUNT.incrementAndGet();
        postgres().createDatabase(name);
        return new Place(name);
    }

    static EmbeddedPostgres postgres() {
        return Server.POSTGRES;
    }

    Trunkline.Builder options() {
        return options(postgres().jdbcUrl(database));
    }

    Trunkline.Builder options(String url) {
        return Trunkline.builder().url(url, postgres().user(), postgres().password());
    }
}
