package dev.trunkline.server.demo;

import dev.trunkline.Trunkline;
import dev.trunkline.server.ConnectionOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code trunkline demo-member}: the demo's second process. It lives until it is killed, or its input ends. */
@Command(name = "demo-member", hidden = true, description = "The demo starts it.")
public final class MemberCommand implements Callable<Integer> {

    static final String STARTED = "started";

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Parameters(paramLabel = "DIR", description = "Where its handlers write their notes.")
    Path notes = Path.of("");

    @Override
    public Integer call() throws IOException {
        try (Trunkline trunkline = database.address()
                .installation()
                .migrate(false)
                .lease(Members.LEASE)
                .open()) {
            Members.join(trunkline, new Notes(notes));
            System.out.println(STARTED);
            System.in.transferTo(OutputStream.nullOutputStream());
            return 0;
        }
    }
}
