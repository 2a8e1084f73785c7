package dev.trunkline;

/**
 * The life of a group: {@code ACTIVE} and {@code PAUSED} become each other, {@code ACTIVE} becomes {@code DEAD}, {@code DEAD} becomes {@code ACTIVE}, and any
 * becomes {@code CANCELLED}, for good.
 */
public enum GroupStatus {
    ACTIVE,
    /** It keeps its place, and holds messages back. */
    PAUSED,
    /** No process serves it. It holds nothing back, and lives again when one comes. */
    DEAD,
    CANCELLED
}
