package dev.trunkline.outbox;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A batch of messages as the arrays that the SQL functions take. A column in which nothing stands is sent as null. */
public record Columns(List<Encoded> messages) {

    public void bindPayloads(PreparedStatement statement, int parameter) throws SQLException {
        byte[][] payloads = new byte[messages.size()][];
        for (int i = 0; i < payloads.length; i++) {
            payloads[i] = messages.get(i).payload();
        }
        statement.setArray(parameter, statement.getConnection().createArrayOf("bytea", payloads));
    }

    public void bindText(PreparedStatement statement, int parameter, Function<Encoded, @Nullable String> column)
            throws SQLException {
        @Nullable String[] values = new String[messages.size()];
        boolean used = false;
        for (int i = 0; i < values.length; i++) {
            values[i] = column.apply(messages.get(i));
            used |= values[i] != null;
        }
        bind(statement, parameter, "text", used ? values : null);
    }

    /** Content types, which are nearly always the same: then there is one entry for all. */
    public void bindContentTypes(PreparedStatement statement, int parameter) throws SQLException {
        String first = messages.getFirst().contentType();
        if (messages.stream().allMatch(message -> message.contentType().equals(first))) {
            bind(statement, parameter, "text", new String[] {first});
        } else {
            bindText(statement, parameter, Encoded::contentType);
        }
    }

    public void bindPriorities(PreparedStatement statement, int parameter) throws SQLException {
        boolean used = messages.stream().anyMatch(message -> message.priority() != 0);
        bind(
                statement,
                parameter,
                "int4",
                used ? messages.stream().map(Encoded::priority).toArray() : null);
    }

    /** Binds an array, or null for none. */
    public static void bind(
            PreparedStatement statement, int parameter, String type, @Nullable Object @Nullable [] values)
            throws SQLException {
        statement.setArray(parameter, values == null ? null : array(statement.getConnection(), type, values));
    }

    private static Array array(Connection connection, String type, @Nullable Object[] values) throws SQLException {
        return connection.createArrayOf(type, values);
    }
}
