package dev.trunkline.benchmarks.report;

import java.util.Map;
import java.util.Objects;

/**
 * How results came about.
 *
 * @param date when the scenario ended, in UTC
 * @param command as it was typed
 * @param where what it ran on and with
 */
public record Run(String date, String command, Where where) {

    public Run {
        Objects.requireNonNull(date, "date");
        Objects.requireNonNull(command, "command");
        Objects.requireNonNull(where, "where");
    }

    /**
     * What one has to know to make sense of figures.
     *
     * @param machine what the benchmarks ran on
     * @param versions of what ran
     * @param settings of PostgreSQL
     * @param payloadBytes of a message
     */
    public record Where(
            Map<String, String> machine, Map<String, String> versions, Map<String, String> settings, int payloadBytes) {

        public Where {
            Objects.requireNonNull(machine, "machine");
            Objects.requireNonNull(versions, "versions");
            Objects.requireNonNull(settings, "settings");
        }
    }
}
