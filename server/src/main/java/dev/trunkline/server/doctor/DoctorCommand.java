package dev.trunkline.server.doctor;

import dev.trunkline.server.Address;
import dev.trunkline.server.ConnectionOptions;
import dev.trunkline.server.Output;
import dev.trunkline.server.Progress;
import dev.trunkline.server.Terminal;
import dev.trunkline.server.doctor.Diagnosis.State;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code trunkline doctor}. */
@Command(
        name = "doctor",
        description = {
            "Look for what is wrong with an installation and its server, and tell what it means and what to do.",
            "It changes nothing. Exits with 1 if something is wrong."
        })
public final class DoctorCommand implements Callable<Integer> {

    private static final String LINE = "%s  %s%n";
    private static final String INDENT = "             ";

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Option(
            names = "--patience",
            paramLabel = "DURATION",
            defaultValue = "PT5M",
            description = "How long a transaction may be open, or a message wait for the relay: PT5M by default.")
    Duration patience = Duration.ofMinutes(5);

    @Option(names = "--json", description = "As a JSON array.")
    boolean json;

    @Override
    public Integer call() throws SQLException {
        if (patience.isNegative()) {
            throw new ParameterException(command.commandLine(), "--patience is " + patience + ": use zero or more");
        }
        Address address = database.address();
        address.installation(); // says what is wrong with the address
        List<Diagnosis> all = new ArrayList<>();
        try (Connection connection = address.connect();
                Progress progress = new Progress(command)) {
            Patient patient = new Patient(address, connection, Clock.systemUTC(), patience);
            for (Check check : Doctor.CHECKS) {
                progress.show(check.name() + " ...");
                all.add(Doctor.examine(check, patient));
            }
        }
        PrintWriter out = command.commandLine().getOut();
        if (json) {
            out.println(Output.json(all));
        } else {
            all.forEach(diagnosis -> print(diagnosis, out));
        }
        out.flush();
        return all.stream().anyMatch(DoctorCommand::isBad) ? 1 : 0;
    }

    /** Where not even the schema can be looked at, all that was not found means nothing. */
    private static boolean isBad(Diagnosis diagnosis) {
        return diagnosis.state() == State.WRONG
                || (diagnosis.state() == State.NOT_CHECKED && diagnosis.check().equals(Doctor.SCHEMA));
    }

    private void print(Diagnosis diagnosis, PrintWriter out) {
        Terminal terminal = Terminal.of(command);
        switch (diagnosis.state()) {
            case OK -> out.printf(LINE, terminal.green("ok         "), diagnosis.check());
            case NOT_CHECKED ->
                out.printf(LINE, terminal.yellow("not checked"), diagnosis.check() + ": needs " + diagnosis.needs());
            case WRONG -> {
                diagnosis
                        .found()
                        .forEach(each -> out.printf(
                                LINE, terminal.red("wrong      "), diagnosis.check() + ": " + Output.printable(each)));
                out.println(INDENT + "it means: " + diagnosis.meaning());
                out.println(INDENT + "do: " + diagnosis.advice());
            }
        }
    }
}
