package dev.trunkline.benchmarks;

import java.util.List;

/** Far more messages than fit into a small heap are consumed. */
final class MemoryDrain implements Scenario {

    private static final String HEAP = "-Xmx128m";

    @Override
    public String name() {
        return "memory-drain";
    }

    @Override
    public String summary() {
        return "a JVM with " + HEAP + " consumes five million messages, each once, and all of them are done";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        int messages = bench.effort().amounts().memoryDrainMessages();
        try (Installation installation = bench.install("memory_drain", true)) {
            bench.progress("%s: publishing %d messages".formatted(name(), messages));
            installation.publish(messages);
            bench.progress("%s: a JVM with %s consumes %d messages".formatted(name(), HEAP, messages));
            SmallJvm jvm = new SmallJvm(bench.address(), installation.schema(), HEAP);
            SmallJvm.End end = jvm.run(SmallJvm.Task.DRAIN, messages);
            return List.of(end.result(
                    name(),
                    "messages recorded as done, each handled once",
                    installation.done(SmallJvmMain.GROUP),
                    "the messages in the log",
                    messages));
        }
    }
}
