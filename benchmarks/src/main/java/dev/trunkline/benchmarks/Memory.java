package dev.trunkline.benchmarks;

import java.util.List;

/** Far more messages than fit into a small heap are published. */
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
        int messages = bench.effort().amounts().memoryMessages();
        try (Installation installation = bench.install("memory", false)) {
            bench.progress("%s: a JVM with %s publishes %d messages".formatted(name(), HEAP, messages));
            SmallJvm jvm = new SmallJvm(bench.address(), installation.schema(), HEAP);
            SmallJvm.End end = jvm.run(SmallJvm.Task.PUBLISH, messages);
            installation.trunkline().relayNow();
            return List.of(end.result(
                    name(),
                    "messages in the log",
                    installation.count(),
                    "the messages that were to be published",
                    messages));
        }
    }
}
