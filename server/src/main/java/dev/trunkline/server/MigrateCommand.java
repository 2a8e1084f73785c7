package dev.trunkline.server;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code trunkline migrate}. */
@Command(name = "migrate", description = "Create the schema, or bring it up to date.")
final class MigrateCommand implements Callable<Integer> {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Option(names = "--json", description = "Print schema and version as JSON.")
    boolean json;

    @Override
    public Integer call() throws SQLException {
        Address address = database.address();
        try (Progress progress = new Progress(command)) {
            progress.show("bringing schema " + address.schema() + " up to date ...");
            address.installation().backgroundWork(false).open().close();
        }
        int version;
        try (Connection connection = address.connect()) {
            version = address.version(connection);
        }
        command.commandLine()
                .getOut()
                .println(
                        json
                                ? Output.json(Map.of("schema", address.schema(), "version", version))
                                : "schema " + address.schema() + " is at version " + version + ", the newest");
        return 0;
    }
}
