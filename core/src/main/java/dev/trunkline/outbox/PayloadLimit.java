package dev.trunkline.outbox;

import dev.trunkline.PayloadTooLargeException;
import dev.trunkline.database.Statements;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/** Asks for a topic's limit before a large payload is copied and sent; the database holds small ones against it by itself. */
public final class PayloadLimit {

    private static final int LARGE = 1024 * 1024;

    private final Statements statements;

    public PayloadLimit(String schema) {
        this.statements = Statements.beside(PayloadLimit.class, "outbox.sql", schema);
    }

    /** Whether any payload is so large that its limit is to be asked for. */
    public static boolean isNear(List<Encoded> messages) {
        for (Encoded message : messages) {
            if (message.payload().length > LARGE) {
                return true;
            }
        }
        return false;
    }

    /**
     * Holds messages of one topic against its limit, if any of them is large.
     *
     * @throws PayloadTooLargeException if one is over it
     */
    public void require(Connection connection, List<Encoded> messages) throws SQLException {
        if (!isNear(messages)) {
            return;
        }
        String topic = messages.getFirst().topic();
        int largest = messages.stream()
                .mapToInt(message -> message.payload().length)
                .max()
                .orElse(0);
        try (PreparedStatement statement = connection.prepareStatement(statements.get("limit"))) {
            statement.setString(1, topic);
            try (ResultSet row = statement.executeQuery()) {
                if (row.next() && largest > row.getInt(1)) {
                    throw new PayloadTooLargeException(
                            "a payload of %d bytes is over the limit of %d bytes of topic \"%s\": raise the limit of the topic, or store the data elsewhere and send a reference"
                                    .formatted(largest, row.getInt(1), topic));
                }
            }
        }
    }
}
