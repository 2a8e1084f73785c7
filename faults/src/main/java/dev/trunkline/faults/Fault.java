package dev.trunkline.faults;

import dev.trunkline.faults.PublisherMain.Habits;
import java.util.HashMap;
import java.util.Map;

/**
 * Something bad that can be done to a system at work.
 *
 * @param id its name in the catalogue
 * @param title what is done, in a few words
 * @param deed does it once, and returns when it is over
 * @param habits what the publishers of its trials do
 * @param settings of the server of its trials
 * @param needsDisk whether the server has a disk of its own
 * @param loses whether it is a control: something that was acknowledged must be lost
 */
record Fault(
        String id,
        String title,
        Deed deed,
        Habits habits,
        Map<String, String> settings,
        boolean needsDisk,
        boolean loses) {

    Fault(String id, String title, Deed deed) {
        this(id, title, deed, Habits.USUAL, Map.of(), false, false);
    }

    Fault with(Habits newHabits) {
        return new Fault(id, title, deed, newHabits, settings, needsDisk, loses);
    }

    Fault with(String setting, String value) {
        Map<String, String> more = new HashMap<>(settings);
        more.put(setting, value);
        return new Fault(id, title, deed, habits, more, needsDisk, loses);
    }

    Fault onDisk() {
        return new Fault(id, title, deed, habits, settings, true, loses);
    }

    Fault mustLose() {
        return new Fault(id, title, deed, habits, settings, needsDisk, true);
    }

    /** Does something bad once. */
    @FunctionalInterface
    interface Deed {
        void strike(Trial trial) throws Exception;
    }

    void strike(Trial trial) throws Exception {
        deed.strike(trial);
    }
}
