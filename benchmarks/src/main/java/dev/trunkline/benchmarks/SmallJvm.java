package dev.trunkline.benchmarks;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.database.ChildJvm;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * A JVM with a small heap, and {@link SmallJvmMain} in it.
 *
 * @param heap the option that sets it
 */
record SmallJvm(Address address, String schema, String heap) {

    /** What it is to do. */
    enum Task {
        PUBLISH,
        DRAIN
    }

    /** Runs it and waits for its end. */
    End run(Task task, int messages) throws Exception {
        ProcessBuilder builder = ChildJvm.of(SmallJvmMain.class, heap).redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        address.putInto(environment);
        environment.put(SmallJvmMain.SCHEMA, schema);
        environment.put(SmallJvmMain.TASK, task.name());
        environment.put(SmallJvmMain.MESSAGES, Integer.toString(messages));
        long began = System.nanoTime();
        Process process = builder.start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new End(heap, process.waitFor(), output.strip(), (System.nanoTime() - began) / 1e9);
        } finally {
            process.destroyForcibly();
        }
    }

    /** How it ended. */
    record End(String heap, int exitCode, String output, double seconds) {

        /** It is well if the count is exact and it ended well. */
        Result result(String scenario, String unit, long count, String baseline, long messages) {
            return Result.of(
                            scenario,
                            unit,
                            new double[] {count},
                            baseline,
                            new double[] {messages},
                            new double[] {(double) count / messages},
                            new Target("exactly 1, exit code 0", ratio -> ratio == 1.0))
                    .requiring("countIsExact", count == messages)
                    .requiring("exitedWithZero", exitCode == 0)
                    .with("exitCode", exitCode)
                    .with("heap", heap)
                    .with("seconds", seconds)
                    .with("output", output);
        }
    }
}
