package dev.trunkline.benchmarks;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Far more messages than fit into a small heap. */
final class Memory implements Scenario {

    private static final String HEAP = "-Xmx64m";

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public String summary() {
        return "a JVM with " + HEAP + " publishes a million messages, and all of them are in the log";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        int messages = bench.effort().memoryMessages();
        try (Installation installation = bench.install("memory", false)) {
            bench.progress("%s: a JVM with %s publishes %d messages".formatted(name(), HEAP, messages));
            long began = System.nanoTime();
            Child child = publish(bench.address(), messages);
            double seconds = (System.nanoTime() - began) / 1e9;
            installation.trunkline().relayNow();
            double count = installation.count();
            return List.of(Result.of(
                            name(),
                            "messages in the log",
                            new double[] {count},
                            "the messages that were to be published",
                            new double[] {messages},
                            new double[] {count / messages},
                            new Target("exactly 1, exit code 0", ratio -> ratio == 1.0))
                    .requiring("exitedWithZero", child.exitCode() == 0)
                    .with("exitCode", child.exitCode())
                    .with("heap", HEAP)
                    .with("seconds", seconds)
                    .with("output", child.output()));
        }
    }

    private record Child(int exitCode, String output) {}

    private static Child publish(Address address, int messages) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder builder = new ProcessBuilder(
                        java, HEAP, "-cp", System.getProperty("java.class.path"), SmallJvm.class.getName())
                .redirectErrorStream(true);
        Map<String, String> environment = builder.environment();
        environment.put(SmallJvm.URL, address.url());
        environment.put(SmallJvm.USER, address.user());
        environment.put(SmallJvm.PASSWORD, address.password());
        environment.put(SmallJvm.SCHEMA, "trunkline_bench_memory");
        environment.put(SmallJvm.MESSAGES, Integer.toString(messages));
        Process process = builder.start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Child(process.waitFor(), output.strip());
        } finally {
            process.destroyForcibly();
        }
    }
}
