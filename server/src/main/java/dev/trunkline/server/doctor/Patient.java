package dev.trunkline.server.doctor;

import dev.trunkline.server.Address;
import dev.trunkline.server.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A database that is looked at.
 *
 * @param connection in autocommit
 * @param clock of this machine
 * @param patience how old a transaction, or a message that waits for the relay, may be
 */
record Patient(Address address, Connection connection, Clock clock, Duration patience) {

    private static final int SECONDS = 60;

    /** What is in the first column of the rows. */
    List<String> texts(String name, Object... parameters) throws SQLException {
        return texts(connection, name, parameters);
    }

    List<String> texts(Connection other, String name, Object... parameters) throws SQLException {
        try (PreparedStatement statement = other.prepareStatement(sql(name))) {
            statement.setQueryTimeout(SECONDS);
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            List<String> texts = new ArrayList<>();
            if (statement.execute()) {
                try (ResultSet row = statement.getResultSet()) {
                    while (row.next()) {
                        texts.add(row.getString(1));
                    }
                }
            }
            return texts;
        }
    }

    double patienceSeconds() {
        return patience.toMillis() / 1_000.0;
    }

    private String sql(String name) {
        return Sql.of(Patient.class, "doctor.sql", name, address.schema());
    }
}
