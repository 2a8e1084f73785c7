package dev.trunkline.server;

import dev.trunkline.Trunkline;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code trunkline schema}. */
@Command(name = "schema", description = "Print the SQL that creates the schema in a new database.")
final class SchemaCommand implements Runnable {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Option(
            names = "--schema",
            defaultValue = "${env:TRUNKLINE_SCHEMA:-trunkline}",
            description = "Its name: trunkline by default. Or TRUNKLINE_SCHEMA.")
    String schema = "trunkline";

    @Override
    public void run() {
        var out = command.commandLine().getOut();
        out.print(Trunkline.schemaScript(schema));
        out.flush();
    }
}
