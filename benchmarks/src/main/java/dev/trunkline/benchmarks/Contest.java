package dev.trunkline.benchmarks;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Sides that are measured by turns: all of them warm up, then each has its turn, again and again. */
final class Contest {

    /** The share of a turn in which the compiler may still be at work when a side is warm. */
    private static final double COLD = 0.2;

    private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();

    private final Workbench bench;
    private final String scenario;
    private final Map<String, Side> sides = new LinkedHashMap<>();

    Contest(Workbench bench, String scenario) {
        this.bench = bench;
        this.scenario = scenario;
    }

    /** One turn of one side. */
    @FunctionalInterface
    interface Side {
        /** Runs for about so long and returns the units it did in a second. */
        double turn(double seconds) throws Exception;
    }

    Contest with(String name, Side side) {
        sides.put(name, side);
        return this;
    }

    Turns run() throws Exception {
        Effort effort = bench.effort();
        for (var side : sides.entrySet()) {
            bench.progress(scenario + ": warming up " + side.getKey());
            warmUp(side.getValue(), effort);
        }
        Turns turns = Turns.of(sides.keySet(), effort.repetitions());
        for (int i = 0; i < effort.repetitions(); i++) {
            for (var side : sides.entrySet()) {
                bench.progress("%s: %d of %d, %s".formatted(scenario, i + 1, effort.repetitions(), side.getKey()));
                bench.settle();
                turns.of(side.getKey())[i] = side.getValue().turn(effort.seconds());
            }
        }
        return turns;
    }

    /** Until the compiler has little left to do, but not more often than the turns that count. */
    private static void warmUp(Side side, Effort effort) throws Exception {
        double share = 1;
        for (int i = 0; i < effort.repetitions() && share > COLD; i++) {
            long began = System.nanoTime();
            long compiled = COMPILER.getTotalCompilationTime();
            side.turn(effort.warmUp());
            share = (COMPILER.getTotalCompilationTime() - compiled) * 1e6 / (System.nanoTime() - began);
        }
    }

    /** What each side reached in each of its turns. */
    record Turns(Map<String, double[]> rates) {

        /** Turns that have yet to be taken. */
        static Turns of(Set<String> sides, int repetitions) {
            Map<String, double[]> rates = new LinkedHashMap<>();
            sides.forEach(side -> rates.put(side, new double[repetitions]));
            return new Turns(rates);
        }

        double[] of(String name) {
            double[] found = rates.get(name);
            if (found == null) {
                throw new IllegalArgumentException("no side " + name + ", only " + rates.keySet());
            }
            return found;
        }

        String faster(String one, String other) {
            return Numbers.median(of(one)) >= Numbers.median(of(other)) ? one : other;
        }

        Result compare(String scenario, String unit, String subject, String baseline, String words, Target target) {
            return Result.of(scenario, unit, of(subject), words, of(baseline), ratios(subject, baseline), target);
        }

        double[] ratios(String subject, String baseline) {
            return Numbers.ratios(of(subject), of(baseline));
        }
    }
}
