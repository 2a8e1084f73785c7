package dev.trunkline.server.verify;

import dev.trunkline.server.Address;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import dev.trunkline.server.Progress;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code trunkline verify}. */
@Command(
        name = "verify",
        description = {
            "Read the whole log and check that it has no holes, that nothing was dropped unread, and that what is known of groups fits it.",
            "Others may work meanwhile; it changes nothing. Exits with 1 if it finds something."
        })
public final class VerifyCommand implements Callable<Integer> {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Parameters(paramLabel = "TOPIC", arity = "0..*", description = "Only these; without any, all.")
    List<String> topics = List.of();

    @Option(
            names = "--json",
            description = "Print what is found as JSON, one a line, and what was looked at on the last one.")
    boolean json;

    @Override
    public Integer call() throws SQLException {
        PrintWriter out = command.commandLine().getOut();
        Address address = database.address();
        address.installation(); // says what is wrong with the address
        try (Progress progress = new Progress(command);
                Connection connection = address.connect()) {
            Auditor auditor = new Auditor(
                    connection,
                    address,
                    finding -> {
                        progress.clear();
                        out.println(json ? Output.json(finding) : Output.printable(finding.text()));
                        out.flush();
                    },
                    progress::show);
            Auditor.Tally tally = auditor.run(topics);
            progress.clear();
            out.println(json ? Output.json(tally) : tally);
            out.flush();
            return tally.findings() == 0 ? 0 : 1;
        }
    }
}
