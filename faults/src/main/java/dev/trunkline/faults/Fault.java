package dev.trunkline.faults;

import java.util.Optional;

/** Something bad that can be done to a system at work. */
interface Fault {

    /** Its name in the catalogue. */
    String id();

    /** What is done, in a few words. */
    String title();

    /** What this machine lacks to do it. */
    default Optional<String> lacks() {
        return Optional.empty();
    }

    /** What the publishers of its trials do. */
    default PublisherMain.Habits habits() {
        return PublisherMain.Habits.USUAL;
    }

    /** Does it once, and returns when it is over. */
    void strike(Trial trial) throws Exception;
}
