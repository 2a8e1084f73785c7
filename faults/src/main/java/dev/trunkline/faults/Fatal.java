package dev.trunkline.faults;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Optional;

/**
 * A message that the process of its first handler ends with, at once, as by SIGKILL.
 *
 * @param number no other one has it
 */
record Fatal(int number, Moment moment) {

    private static final String PREFIX = "fatal-";

    /** When it ends. */
    enum Moment {
        /** The message was given to the handler, which has done nothing. */
        FETCHED,
        /** The handler has written its row, in a transaction that is open. */
        DONE,
        /** The transaction is committed. */
        COMMITTED
    }

    String value() {
        return PREFIX + number + "." + moment.name().toLowerCase(Locale.ROOT);
    }

    static Optional<Fatal> find(String value) {
        if (!value.startsWith(PREFIX)) {
            return Optional.empty();
        }
        String[] parts = value.substring(PREFIX.length()).split("\\.", 2);
        return Optional.of(new Fatal(Integer.parseInt(parts[0]), Moment.valueOf(parts[1].toUpperCase(Locale.ROOT))));
    }

    /** In the process of a handler, at a moment: ends it, if this is when and nobody has died of it before. */
    void act(Moment now, Path journals) throws IOException {
        if (now == moment && isFirst(journals)) {
            Runtime.getRuntime().halt(9);
        }
    }

    /** In the process of a handler that is done: ends it when the row of the message can be seen. */
    void actWhenCommitted(Path journals) {
        if (moment == Moment.COMMITTED) {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    awaitRow();
                    act(Moment.COMMITTED, journals);
                } catch (SQLException | IOException e) {
                    throw new IllegalStateException(this + ": whether it is committed is not known", e);
                }
            });
        }
    }

    private void awaitRow() throws SQLException {
        try (Connection connection = Address.ofEnvironment().connect();
                PreparedStatement select = connection.prepareStatement("select from effect where value = ?")) {
            select.setString(1, value());
            while (true) {
                try (ResultSet row = select.executeQuery()) {
                    if (row.next()) {
                        return;
                    }
                }
            }
        }
    }

    private boolean isFirst(Path journals) throws IOException {
        try {
            Files.createFile(journals.resolve(value() + ".died"));
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }
}
