package dev.trunkline.checker;

/** How much was checked. */
public final class Figures {

    long events;
    long acknowledged;
    long failed;
    long unknown;
    long handled;
    long duplicates;
    long effects;
    long faults;
    long mostOfOneFault;

    Figures() {}

    public long events() {
        return events;
    }

    /** Messages whose publishers were told that they are there. */
    public long acknowledged() {
        return acknowledged;
    }

    /** Messages whose publishers were told nothing, or that it is not known. */
    public long unknown() {
        return unknown;
    }

    /** Messages whose publishers were told that they are not there. */
    public long failed() {
        return failed;
    }

    /** Runs of handlers with messages. */
    public long handled() {
        return handled;
    }

    /** Messages that came again though nobody had said that they failed. */
    public long duplicates() {
        return duplicates;
    }

    /** The most messages that came again because of one fault. */
    public long mostOfOneFault() {
        return mostOfOneFault;
    }

    public long effects() {
        return effects;
    }

    public long faults() {
        return faults;
    }

    @Override
    public String toString() {
        return "%,d events; messages acknowledged %,d, failed %,d, unknown %,d; handled %,d, of these again %,d (for one fault at most %,d); effects %,d; faults %,d"
                .formatted(events, acknowledged, failed, unknown, handled, duplicates, mostOfOneFault, effects, faults);
    }
}
