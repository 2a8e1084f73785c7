package dev.trunkline.server.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A database with Trunkline in it, and no process of Trunkline's, and somebody who may use it and make tables of his own: no more. */
final class Shop {

    private final String database = Cli.freshDatabase();
    private final String user = "shop_of_" + database;

    Shop() throws SQLException {
        assertThat(Cli.on(database, "migrate").code()).isZero();
        try (Connection owner = connectAsOwner();
                Statement statement = owner.createStatement()) {
            statement.execute("create role " + user + " login password 'secret' in role trunkline_app");
            statement.execute("grant create on schema public to " + user);
        }
    }

    /** What every program that uses libpq, or does as if, is told by. */
    Map<String, String> environment() {
        return Map.of(
                "PGHOST",
                "127.0.0.1",
                "PGPORT",
                Integer.toString(Cli.postgres().port()),
                "PGDATABASE",
                database,
                "PGUSER",
                user,
                "PGPASSWORD",
                "secret");
    }

    Connection connectAsOwner() throws SQLException {
        return Cli.postgres().dataSource(database).getConnection();
    }

    Connection connect() throws SQLException {
        return DriverManager.getConnection(Cli.postgres().jdbcUrl(database), user, "secret");
    }

    /** The rows of a query, columns joined by "|". */
    List<String> query(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            List<String> rows = new ArrayList<>();
            while (row.next()) {
                List<String> values = new ArrayList<>();
                for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                    values.add(String.valueOf(row.getString(i)));
                }
                rows.add(String.join("|", values));
            }
            return rows;
        }
    }

    /** A folder of the examples. */
    static Path example(String name) {
        return Path.of("..", "examples", name).toAbsolutePath().normalize();
    }

    /** Copies an example to where what it installs does no harm. */
    static Path copy(String name, Path target) throws IOException {
        Path copy = Files.createDirectories(target.resolve(name));
        try (Stream<Path> files = Files.list(example(name))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, copy.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        return copy;
    }
}
