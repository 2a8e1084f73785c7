package dev.trunkline.testing;

import dev.trunkline.Trunkline;

/** A process that says {@code ready}, waits for a line, opens a Trunkline, and says what came of it. */
public final class OpeningProcess {

    private OpeningProcess() {}

    public static void main(String[] arguments) throws Exception {
        System.out.println("ready");
        System.in.read();
        try (Trunkline trunkline = Trunkline.open(arguments[0], arguments[1], arguments[2])) {
            System.out.println("opened, topics: " + trunkline.topics().list().size());
        }
    }
}
