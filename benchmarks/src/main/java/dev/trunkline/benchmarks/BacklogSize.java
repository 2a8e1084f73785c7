package dev.trunkline.benchmarks;

import dev.trunkline.SubscriptionOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A new group before small and large backlogs: how fast it begins. */
final class BacklogSize implements Scenario {

    private static final int MOST_REPETITIONS = 5;

    private int turn;

    @Override
    public String name() {
        return "backlog";
    }

    @Override
    public String summary() {
        return "a group works on a backlog of 0.1, 1 and 10 million messages: the rate of its first part, against the smallest";
    }

    @Override
    public List<Result> run(Workbench bench) throws Exception {
        List<Integer> backlogs = bench.effort().series().backlogs();
        int smallest = backlogs.getFirst();
        Map<Integer, Installation> open = new LinkedHashMap<>();
        try {
            Contest contest = new Contest(bench.atMost(MOST_REPETITIONS), name());
            for (int backlog : backlogs) {
                bench.progress("%s: publishing %d messages".formatted(name(), backlog));
                Installation installation = bench.install("backlog_" + backlog, true);
                open.put(backlog, installation);
                installation.publish(backlog);
                contest.with(Integer.toString(backlog), seconds -> begin(installation, smallest));
            }
            Contest.Turns turns = contest.run();
            List<Result> results = new ArrayList<>();
            for (int backlog : backlogs) {
                results.add(turns.compare(
                                name(),
                                "messages/s",
                                Integer.toString(backlog),
                                Integer.toString(smallest),
                                "the same with a backlog of " + smallest,
                                Target.atLeast(backlog == smallest ? 1 : 0.9))
                        .at(name(), backlog));
            }
            return results;
        } finally {
            open.values().forEach(Installation::close);
        }
    }

    /** A new group handles the first so many messages, and leaves the rest. */
    private double begin(Installation installation, int messages) throws InterruptedException {
        try (CountedGroup group = new CountedGroup(installation.trunkline(), "backlog-" + turn++)) {
            long began = System.nanoTime();
            group.start(SubscriptionOptions.fromBeginning()).await(messages);
            return messages * 1e9 / (System.nanoTime() - began);
        }
    }
}
