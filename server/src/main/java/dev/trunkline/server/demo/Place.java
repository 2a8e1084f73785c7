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
final class Place implements AutoCloseable {

    private final Address address;
    private final String name;
    private final @Nullable EmbeddedPostgres postgres;
    private final boolean stays;

    private Place(Address address, String name, @Nullable EmbeddedPostgres postgres, boolean stays) {
        this.address = address;
        this.name = name;
        this.postgres = postgres;
        this.stays = stays;
    }

    static Place temporary() {
        EmbeddedPostgres postgres = EmbeddedPostgres.temporary().start();
        return new Place(of(postgres, "trunkline"), "a temporary " + postgres, postgres, false);
    }

    static Place at(Path data) {
        EmbeddedPostgres postgres = EmbeddedPostgres.at(data).start();
        return new Place(of(postgres, freshSchema()), postgres.toString(), postgres, true);
    }

    static Place given(String url, @Nullable String user, @Nullable String password) {
        Address address = Address.of(url, user, password, freshSchema());
        return new Place(address, address.toString(), null, true);
    }

    private static Address of(EmbeddedPostgres postgres, String schema) {
        return new Address(postgres.jdbcUrl(), postgres.user(), postgres.password(), schema);
    }

    private static String freshSchema() {
        return "trunkline_demo_%08x".formatted(ThreadLocalRandom.current().nextInt());
    }

    Address address() {
        return address;
    }

    void execute(String statement) throws SQLException {
        try (Connection connection = address.connect();
                Statement call = connection.createStatement()) {
            call.execute(Sql.of(Place.class, "demo.sql", statement));
        }
    }

    @Override
    public void close() {
        try {
            if (stays) {
                cleanUp();
            }
        } finally {
            if (postgres != null) {
                postgres.close();
            }
        }
    }

    private void cleanUp() {
        try {
            execute("cleanUp");
        } catch (SQLException e) {
            throw new TrunklineException(
                    "the demo's schema could not be dropped (" + e.getMessage() + "): run drop schema "
                            + address.schema() + " cascade",
                    e);
        }
    }

    @Override
    public String toString() {
        return name + ", schema " + address.schema();
    }
}
