package dev.trunkline.benchmarks.peer;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Messages that a consumer has taken out of a table, and what became of them. */
final class Batch {

    private final List<Long> handled = new ArrayList<>();
    private final List<Long> failed = new ArrayList<>();

    private record Taken(long id, Letter letter) {}

    /** Takes rows of an id, a key and a payload. */
    static Batch take(ResultSet rows, Handler handler) throws SQLException {
        List<Taken> taken = new ArrayList<>();
        try (rows) {
            while (rows.next()) {
                taken.add(new Taken(rows.getLong(1), new Letter(rows.getString(2), rows.getBytes(3))));
            }
        }
        return new Batch(taken, handler);
    }

    private Batch(List<Taken> taken, Handler handler) {
        for (Taken message : taken) {
            try {
                handler.handle(message.letter());
                handled.add(message.id());
            } catch (Exception e) {
                failed.add(message.id());
            }
        }
    }

    List<Long> handled() {
        return handled;
    }

    List<Long> failed() {
        return failed;
    }

    int size() {
        return handled.size() + failed.size();
    }

    /** Says which were handled to one statement and which have failed to another, each if there are any. */
    void settle(PreparedStatement ofHandled, PreparedStatement ofFailed) throws SQLException {
        settle(ofHandled, handled);
        settle(ofFailed, failed);
    }

    private static void settle(PreparedStatement statement, List<Long> ids) throws SQLException {
        if (!ids.isEmpty()) {
            Connection connection = statement.getConnection();
            Array array = connection.createArrayOf("int8", ids.toArray());
            statement.setArray(1, array);
            statement.executeUpdate();
        }
    }
}
