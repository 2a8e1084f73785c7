package dev.trunkline.benchmarks;

import dev.trunkline.SubscriptionOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A rush falls into the middle third of a catch-up: how fast that goes in each third, once it has had half of it to find its pace. */
final class Throttle {

    private static final int RUSHING = 16 * Runtime.getRuntime().availableProcessors();

    private final Encounter encounter;
    private final SubscriptionOptions options;
    private final List<List<Double>> rates = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    private final List<Double> rushed = new ArrayList<>();
    private List<Long> curve = List.of();
    private List<Double> transactions = List.of();
    private List<Double> answers = List.of();
    private boolean historyLasted = true;

    Throttle(Encounter encounter, SubscriptionOptions options) {
        this.encounter = encounter;
        this.options = options;
    }

    Result run(Workbench bench, String scenario) throws Exception {
        double lead = 2 * bench.effort().warmUp();
        double third = 4 * bench.effort().seconds();
        int repetitions = bench.effort().repetitions();
        try (Crew crew = encounter.oltp().rush(RUSHING)) {
            for (int i = 0; i < repetitions; i++) {
                bench.progress("%s: %d of %d".formatted(scenario, i + 1, repetitions));
                bench.settle();
                turn(crew, lead, third);
            }
        }
        double[] first = Numbers.array(rates.get(0));
        double[] middle = Numbers.array(rates.get(1));
        double[] last = Numbers.array(rates.get(2));
        return Result.of(
                        scenario,
                        "messages/s in the second half of the middle third, in which others are in a rush",
                        middle,
                        "the second half of the first third of the same catch-up",
                        first,
                        Numbers.ratios(middle, first),
                        new Target("< 0.70 (rush / before)", ratio -> ratio < 0.7))
                .requiring("historyLasted", historyLasted)
                .requiring("wentUpAgain", Numbers.median(last) > Numbers.median(middle))
                .with("messagesPerSecondAfter", Numbers.median(last))
                .with("lastTurnSecondBySecond", curve)
                .with("transactionsP95Millis", transactions)
                .with("smallQuestionsP95Millis", answers)
                .with("leadSeconds", lead)
                .with("thirdSeconds", third)
                .with("rushThreads", RUSHING)
                .with("rushTransactionsPerSecond", Numbers.median(Numbers.array(rushed)));
    }

    private void turn(Crew crew, double lead, double third) {
        long rush = System.nanoTime() + (long) ((lead + third) * 1e9);
        CompletableFuture<Void> rushing = CompletableFuture.runAsync(
                () -> {
                    Pace.sleepUntil(rush);
                    try {
                        rushed.add(crew.rate(third));
                    } catch (Exception e) {
                        throw new CompletionException(e);
                    }
                },
                task -> Thread.ofPlatform().name("rush").start(task));
        Windows questions = new Windows(System.nanoTime(), lead, third, third, third);
        CompletableFuture<Void> asking = encounter.oltp().ask(questions);
        Encounter.Seen seen = encounter.together(options, lead, third, third, third);
        CompletableFuture.allOf(rushing, asking).join();
        CatchingUp group = seen.group();
        for (int i = 0; i < rates.size(); i++) {
            double end = lead + (i + 1) * third;
            // A third without any progress still has a ratio.
            rates.get(i).add(Math.max(group.rate(end - third / 2, end), 1));
        }
        curve = group.curve();
        transactions = seen.transactions().p95();
        answers = questions.p95();
        historyLasted &= group.isRunning();
    }
}
