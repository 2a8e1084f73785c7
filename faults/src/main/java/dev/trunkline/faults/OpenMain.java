package dev.trunkline.faults;

import dev.trunkline.Trunkline;

/** A process that says when it is there, opens the database when it is told to, and says that it has. */
final class OpenMain {

    static final String READY = "ready";
    static final String OPENED = "opened";

    private OpenMain() {}

    public static void main(String[] arguments) throws Exception {
        System.out.println(READY);
        Crowd.awaitStop();
        try (Trunkline trunkline = Address.ofEnvironment().open()) {
            System.out.println(OPENED + " " + trunkline.topics().list().size());
        }
    }
}
