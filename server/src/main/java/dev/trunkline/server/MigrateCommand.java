package dev.trunkline.server;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code trunkline migrate}. */
@Command(name = "migrate", description = "Create the schema, or bring it up to date.")
final class MigrateCommand implements Callable<Integer> {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Override
    public Integer call() throws SQLException {
        Address address = database.address();
        address.installation().backgroundWork(false).open().close();
        command.commandLine()
                .getOut()
                .println("schema " + address.schema() + " is at version " + version(address) + ", the newest");
        return 0;
    }

    private static int version(Address address) throws SQLException {
        try (Connection connection = address.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(Sql.of(MigrateCommand.class, "migrate.sql", "version"))) {
            row.next();
            return row.getInt(1);
        }
    }
}
