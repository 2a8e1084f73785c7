package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.ChildJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A JVM that serves a group of its own, with {@link GroupProcessMain} in it: it can be killed, and started again. */
final class GroupProcess implements AutoCloseable {

    private final Address address;
    private final String schema;
    private @Nullable Process process;

    GroupProcess(Address address, String schema) {
        this.address = address;
        this.schema = schema;
    }

    /** Returns before it serves anything. */
    void start() {
        ProcessBuilder builder =
                ChildJvm.of(GroupProcessMain.class, "-Xmx256m").inheritIO().redirectInput(ProcessBuilder.Redirect.PIPE);
        Map<String, String> environment = builder.environment();
        address.putInto(environment);
        environment.put(GroupProcessMain.SCHEMA, schema);
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGKILL. */
    void kill() {
        if (process != null) {
            process.destroyForcibly().onExit().join();
        }
    }

    @Override
    public void close() {
        kill();
    }
}
