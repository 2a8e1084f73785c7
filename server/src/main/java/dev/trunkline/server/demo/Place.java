package dev.trunkline.server.demo;

import dev.trunkline.TrunklineException;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.server.Address;
import dev.trunkline.server.Sql;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Where the demo runs. In a database that stays it has a schema of its own, which it drops at the end. */
record Place(Address address, @Nullable EmbeddedPostgres postgres, boolean stays) implements AutoCloseable {

    static Place temporary() {
        return of(EmbeddedPostgres.temporary().start(), "trunkline", false);
    }

    static Place at(Path data) {
        return of(EmbeddedPostgres.at(data).start(), freshSchema(), true);
    }

    static Place given(String url, @Nullable String user, @Nullable String password) {
        return new Place(Address.of(url, user, password, freshSchema()), null, true);
    }

    private static Place of(EmbeddedPostgres postgres, String schema, boolean stays) {
        Address address = new Address(postgres.jdbcUrl(), postgres.user(), postgres.password(), schema);
        return new Place(address, postgres, stays);
    }

    private static String freshSchema() {
        return "trunkline_demo_%08x".formatted(ThreadLocalRandom.current().nextInt());
    }

    /** What lets other commands look at it. The password only of a server that ends with the demo. */
    String access() {
        return "TRUNKLINE_URL='%s' TRUNKLINE_USER=%s TRUNKLINE_SCHEMA=%s%s"
                .formatted(
                        address.maskedUrl(),
                        address.user(),
                        address.schema(),
                        postgres == null ? "" : " TRUNKLINE_PASSWORD=" + address.password());
    }

    void execute(String statement) throws SQLException {
        try (Connection connection = address.connect();
                Statement call = connection.createStatement()) {
            call.execute(Sql.of(Place.class, "demo.sql", statement, address.schema()));
        }
    }

    @Override
    public void close() {
        try {
            if (stays) {
                execute("cleanUp");
            }
        } catch (SQLException e) {
            throw new TrunklineException(
                    "the demo's schema could not be dropped (" + e.getMessage() + "): run drop schema "
                            + address.schema() + " cascade",
                    e);
        } finally {
            if (postgres != null) {
                postgres.close();
            }
        }
    }

    @Override
    public String toString() {
        Object server = postgres == null ? address : stays ? postgres : "a temporary " + postgres;
        return server + ", schema " + address.schema();
    }
}
