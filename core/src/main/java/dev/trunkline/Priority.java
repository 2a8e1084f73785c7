package dev.trunkline;

/**
 * How urgent a message is. Each level has a log of its own, so order is kept per key and level. Topics that are
 * {@link Ordering#ORDERED} take {@link #NORMAL} only, unless they were created with priority levels.
 */
public enum Priority {
    /** Handled when there is nothing more urgent, but never starved. */
    LOW(-1),
    /** The default. */
    NORMAL(0),
    /** Handled first. */
    HIGH(1);

    private final int code;

    Priority(int code) {
        this.code = code;
    }

    /** The number that stands for this priority in SQL: -1, 0 or 1. */
    public int code() {
        return code;
    }

    /** The priority that a number of SQL stands for. */
    public static Priority of(int code) {
        return switch (code) {
            case -1 -> LOW;
            case 0 -> NORMAL;
            case 1 -> HIGH;
            default -> throw new IllegalArgumentException("there is no priority " + code + ": use -1, 0 or 1");
        };
    }
}
