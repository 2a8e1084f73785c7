package dev.trunkline.server.keys;

import dev.trunkline.TrunklineException;
import dev.trunkline.server.Address;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import dev.trunkline.server.Sql;
import dev.trunkline.server.Table;
import dev.trunkline.server.http.ApiKeys;
import dev.trunkline.server.http.ApiKeys.ApiKey;
import dev.trunkline.server.http.ApiKeys.CreatedKey;
import dev.trunkline.server.http.Verb;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline keys}: in the database itself, so that it also helps who has lost the only key. */
@Command(
        name = "keys",
        description = "List, create or revoke the keys of those who ask over HTTP. As the schema's owner.")
public final class KeysCommand {

    private static final int LONGEST = 255;
    private static final Duration LONGEST_TIME = Duration.ofDays(10_000);

    @Spec
    CommandSpec command = CommandSpec.create();

    @Command(description = "List keys, those that are revoked too; not what they are called by, which nobody knows.")
    void list(@Mixin ConnectionOptions at, @Option(names = "--json", description = "As a JSON array.") boolean json)
            throws SQLException {
        List<ApiKey> keys = keys(at).list();
        if (json) {
            command.commandLine().getOut().println(Output.json(keys));
            return;
        }
        Table table = new Table("ID", "NAME", "VERBS", "TOPICS", "GROUPS", "CREATED AT", "EXPIRES AT", "REVOKED AT");
        keys.forEach(key -> table.row(
                key.id(),
                key.name(),
                key.verbs().stream().map(Verb::name).collect(Collectors.joining(",")),
                key.topics(),
                key.groups(),
                key.createdAt(),
                key.expiresAt(),
                key.revokedAt()));
        table.print(command);
    }

    @Command(description = "Create a key, and print it: once.")
    void create(
            @Mixin ConnectionOptions at,
            @Parameters(paramLabel = "NAME", description = "Whose it is.") String name,
            @Option(
                            names = "--verbs",
                            required = true,
                            split = ",",
                            paramLabel = "VERB",
                            description = "What it allows, with commas between: ${COMPLETION-CANDIDATES}.")
                    List<Verb> verbs,
            @Option(
                            names = "--topics",
                            defaultValue = "*",
                            paramLabel = "PATTERN",
                            description = "On which topics, such as orders.*; all by default.")
                    String topics,
            @Option(
                            names = "--groups",
                            defaultValue = "*",
                            paramLabel = "PATTERN",
                            description = "For which groups; all by default.")
                    String groups,
            @Option(
                            names = "--expires-in",
                            paramLabel = "DURATION",
                            description = "For how long it is good, such as P30D; for ever by default.")
                    @Nullable
                    Duration expiresIn,
            @Option(names = "--json", description = "As JSON.") boolean json)
            throws SQLException {
        check("NAME", name);
        check("--topics", topics);
        check("--groups", groups);
        if (expiresIn != null && (!expiresIn.isPositive() || expiresIn.compareTo(LONGEST_TIME) > 0)) {
            throw wrong("--expires-in is " + expiresIn + ": use more than zero, and " + LONGEST_TIME + " at most");
        }
        ApiKeys keys = keys(at);
        Set<Verb> allowed = EnumSet.copyOf(verbs);
        note(at.address(), "keys create", name);
        CreatedKey created = keys.create(name, allowed, topics, groups, expiresIn);
        PrintWriter out = command.commandLine().getOut();
        if (json) {
            out.println(Output.json(created));
            return;
        }
        out.println("key " + created.id() + ", which allows " + allowed + ". It is shown once:");
        out.println("  " + created.key());
    }

    @Command(description = "Revoke a key: within a second it is good for nothing.")
    void revoke(
            @Mixin ConnectionOptions at,
            @Parameters(paramLabel = "ID", description = "Its number, from the list.") int id,
            @Option(names = "--json", description = "As JSON.") boolean json)
            throws SQLException {
        ApiKeys keys = keys(at);
        note(at.address(), "keys revoke", "" + id);
        if (!keys.revoke(id)) {
            throw new TrunklineException(
                    "there is no key " + id + ", or it was revoked before: see the list, trunkline keys list");
        }
        command.commandLine().getOut().println(json ? Output.json(Map.of("revoked", id)) : "revoked key " + id);
    }

    /** Of an installation that is there, and of this version. */
    private static ApiKeys keys(ConnectionOptions at) {
        at.open().close();
        return new ApiKeys(at.address()::connect, at.address().schema());
    }

    /** As the server does, before it is done; as whom the database knows it. */
    private static void note(Address address, String what, String target) throws SQLException {
        try (Connection connection = address.connect();
                PreparedStatement call =
                        connection.prepareStatement(Sql.of(KeysCommand.class, "keys.sql", "note", address.schema()))) {
            call.setString(1, what);
            call.setString(2, target);
            call.execute();
        }
    }

    private void check(String what, String text) {
        boolean strange = text.codePoints()
                .anyMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE);
        if (text.isBlank() || text.length() > LONGEST || strange) {
            throw wrong(what + " has 1 to " + LONGEST + " characters, none of them a control character");
        }
    }

    private ParameterException wrong(String what) {
        return new ParameterException(command.commandLine(), what);
    }
}
