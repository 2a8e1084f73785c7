package dev.trunkline.faults;

import dev.trunkline.faults.ConsumerMain.Patience;
import dev.trunkline.faults.PublisherMain.Habits;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Something bad that can be done to a system at work.
 *
 * @param id its name in the catalogue
 * @param title what is done, in a few words
 * @param deed does it once, and returns when it is over
 * @param habits what the publishers of its trials do
 * @param patience what the consumers of its trials put up with
 * @param settings of the server of its trials
 * @param site where its trials take place
 * @param loses whether it is a control: something that was acknowledged must be lost
 * @param tally what of its trials counts as an event
 * @param sparesPublishers whether no publish may fail, since nothing is done to publishers or their server
 */
record Fault(
        String id,
        String title,
        Deed deed,
        Habits habits,
        Patience patience,
        Map<String, String> settings,
        Site site,
        boolean loses,
        Tally tally,
        boolean sparesPublishers) {

    /** Settings that older servers do not know. */
    private static final Map<String, Integer> SINCE = Map.of("max_notify_queue_pages", 17);

    Fault(String id, String title, Deed deed) {
        this(id, title, deed, Habits.USUAL, Patience.USUAL, Map.of(), Site.PLAIN, false, Tally.STRIKES, false);
    }

    Fault with(Habits newHabits) {
        return new Fault(id, title, deed, newHabits, patience, settings, site, loses, tally, sparesPublishers);
    }

    Fault with(Patience newPatience) {
        return new Fault(id, title, deed, habits, newPatience, settings, site, loses, tally, sparesPublishers);
    }

    Fault with(String setting, String value) {
        Map<String, String> more = new HashMap<>(settings);
        more.put(setting, value);
        return new Fault(id, title, deed, habits, patience, more, site, loses, tally, sparesPublishers);
    }

    Fault on(Site newSite) {
        return new Fault(id, title, deed, habits, patience, settings, newSite, loses, tally, sparesPublishers);
    }

    Fault mustLose() {
        return new Fault(id, title, deed, habits, patience, settings, site, true, tally, sparesPublishers);
    }

    Fault counting(Tally newTally) {
        return new Fault(id, title, deed, habits, patience, settings, site, loses, newTally, sparesPublishers);
    }

    Fault sparingPublishers() {
        return new Fault(id, title, deed, habits, patience, settings, site, loses, tally, true);
    }

    /** What is lacking for it on this machine, with a server of this version. */
    Optional<String> lacks(int major) {
        return settings.keySet().stream()
                .filter(setting -> SINCE.getOrDefault(setting, 0) > major)
                .map(setting -> "PostgreSQL " + SINCE.get(setting))
                .findFirst()
                .or(site::lacks);
    }

    /** Where a trial takes place. */
    enum Site {
        PLAIN,
        /** The server has a {@link Disk} of its own. */
        DISK,
        /** The server has two of them, one for WAL. */
        DISKS,
        /** One consumer lives on an {@link Island}. */
        ISLAND,
        /** The crowd reaches the server through a pooler. */
        POOLER,
        /** The server has a standby, which commits wait for. */
        STANDBY,
        /** The server has a standby that nobody waits for. */
        LATE_STANDBY,
        /** The server and some processes have clocks that can be set. */
        CLOCKS;

        /** What this machine lacks for it. */
        Optional<String> lacks() {
            return switch (this) {
                case PLAIN, POOLER, STANDBY, LATE_STANDBY -> Optional.empty();
                case DISK, DISKS -> Disk.lacks();
                case ISLAND -> Island.lacks();
                case CLOCKS -> Clock.lacks();
            };
        }
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
