package dev.trunkline.server;

import dev.trunkline.Trunkline;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Which installation a command works on. */
public final class ConnectionOptions {

    @Spec(Spec.Target.MIXEE)
    @Nullable
    CommandSpec command;

    @Option(
            names = "--url",
            paramLabel = "JDBC",
            defaultValue = "${env:TRUNKLINE_URL}",
            description = "The database, such as jdbc:postgresql://localhost/shop. Or TRUNKLINE_URL.")
    @Nullable
    String url;

    @Option(
            names = "--user",
            defaultValue = "${env:TRUNKLINE_USER}",
            description = "Its user; without it, yours. Or TRUNKLINE_USER.")
    @Nullable
    String user;

    @Option(
            names = "--password",
            defaultValue = "${env:TRUNKLINE_PASSWORD}",
            description = "The user's password. Better in TRUNKLINE_PASSWORD, where nobody else sees it.")
    @Nullable
    String password;

    @Option(
            names = "--schema",
            defaultValue = "${env:TRUNKLINE_SCHEMA:-trunkline}",
            description = "The installation's schema: trunkline by default. Or TRUNKLINE_SCHEMA.")
    String schema = "trunkline";

    public Address address() {
        if (url == null || url.isBlank()) {
            CommandLine line = command == null ? new CommandLine(this) : command.commandLine();
            throw new CommandLine.ParameterException(
                    line, "no database is given: use --url jdbc:postgresql://host/database, or set TRUNKLINE_URL");
        }
        return Address.of(url, user, password, schema);
    }

    /** Opens the installation for one command: without migrating it, without background work. */
    public Trunkline open() {
        return address().installation().migrate(false).backgroundWork(false).open();
    }
}
