package dev.trunkline.faults;

import dev.trunkline.DeadLetter;
import dev.trunkline.DeadLetters;
import dev.trunkline.Message;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Outcome;
import dev.trunkline.checker.Event.Way;
import dev.trunkline.faults.ConsumerMain.Patience;
import java.nio.file.Files;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A message that a group can not handle: it ends in the dead letters, and only its key waits for it. */
final class PoisonFaults {

    private static final Patience BOUNDED = new Patience(4, Poison.TIMEOUT);
    private static final List<Poison.Kind> KINDS = List.of(Poison.Kind.values());
    private static final int MOST_DEATHS = 3;
    private static final int FOLLOWERS = 3;

    private final Trial trial;
    private final Trunkline trunkline;
    private final Poison poison;

    private PoisonFaults(Trial trial, Trunkline trunkline, Poison poison) {
        this.trial = trial;
        this.trunkline = trunkline;
        this.poison = poison;
    }

    static List<Fault> all() {
        return List.of(new Fault("F18", "publish a message that no handler survives", PoisonFaults::strike)
                .with(BOUNDED)
                .sparingPublishers());
    }

    private static void strike(Trial trial) throws Exception {
        Poison poison = Poison.choose(trial.events(), trial.draw(KINDS), trial.random());
        try (Trunkline trunkline = trial.open()) {
            PoisonFaults fault = new PoisonFaults(trial, trunkline, poison);
            if (poison.kind().kills()) {
                trial.harm(fault::run);
            } else {
                fault.run();
            }
        }
    }

    private void run() throws Exception {
        List<Message> messages = new ArrayList<>();
        messages.add(Message.of(Workload.ORDERS, poison.value()).withKey(poison.key()));
        for (int i = 0; i < FOLLOWERS; i++) {
            messages.add(Message.of(Workload.ORDERS, "behind-" + poison.number() + "." + i)
                    .withKey(poison.key()));
            messages.add(Workload.message(Workload.ORDERS, "beside-" + poison.number() + "." + i, trial.random()));
        }
        publish(messages);
        Map<String, DeadLetter> letters = awaitLetters(Map.of());
        letters.values().forEach(this::requireAttempts);
        Standing.await("what follows on its key waits", () -> waiting() == (long) FOLLOWERS * letters.size());
        trial.awaitMore(100);
        switch (trial.random().nextInt(3)) {
            case 0 -> discard(letters);
            case 1 -> {
                redrive(letters);
                discard(awaitLetters(letters));
            }
            default -> {
                Files.createFile(Handlers.cure(trial.journals(), poison));
                redrive(letters);
                if (poison.kind() == Poison.Kind.UNDECODABLE) {
                    discard(awaitLetters(letters));
                }
            }
        }
        Standing.await("its key goes on", () -> waiting() + blocked() + dead() == 0);
        publish(List.of(Message.of(Workload.ORDERS, "after-" + poison.number()).withKey(poison.key())));
    }

    private void publish(List<Message> messages) {
        String call = trial.journal().publish(Way.PUBLISH, Workload.ORDERS, Workload.contents(messages));
        trunkline.publisher().publishAll(messages);
        trial.journal().end(call, Outcome.OK);
    }

    /** Waits until every group that can not handle it has given it up, after those that were there before. */
    private Map<String, DeadLetter> awaitLetters(Map<String, DeadLetter> before) {
        Map<String, DeadLetter> letters = new HashMap<>();
        int[] deaths = new int[1];
        Standing.await(poison.value() + " is a dead letter", () -> {
            deaths[0] += trial.crowd().replaceDead();
            for (String group : poison.victims()) {
                long after = before.containsKey(group) ? before.get(group).id() : 0;
                find(group, after).ifPresent(letter -> letters.put(group, letter));
            }
            return letters.size() == poison.victims().size();
        });
        if (deaths[0] > (poison.kind().kills() ? MOST_DEATHS : 0)) {
            throw new IllegalStateException(deaths[0] + " processes died of " + poison.value());
        }
        letters.forEach((group, letter) -> {
            if (!letter.error().contains(poison.kind().error())) {
                throw new IllegalStateException(
                        poison.value() + " was given up by " + group + " with another error: " + letter.error());
            }
        });
        return letters;
    }

    /** What can be tried again is, as often as is allowed. */
    private void requireAttempts(DeadLetter letter) {
        if (poison.kind() == Poison.Kind.THROW && letter.attempts() != BOUNDED.attempts()) {
            throw new IllegalStateException(
                    "%s was given up after %d attempts".formatted(poison.value(), letter.attempts()));
        }
    }

    private Optional<DeadLetter> find(String group, long after) {
        List<DeadLetter> all = letters(group).list(after, 100);
        for (DeadLetter letter : all) {
            if (!poison.key().equals(letter.key())) {
                throw new IllegalStateException(
                        group + " has given up \"" + letter.text() + "\", which is no poison: " + letter.error());
            }
        }
        return all.stream().findFirst();
    }

    private DeadLetters letters(String group) {
        return trunkline
                .createConsumerGroup(group, Workload.ORDERS, Value.class)
                .deadLetters();
    }

    private void redrive(Map<String, DeadLetter> letters) {
        letters.forEach((group, letter) -> letters(group).redrive(List.of(letter.id())));
    }

    private void discard(Map<String, DeadLetter> letters) {
        letters.forEach((group, letter) -> {
            long now = System.nanoTime();
            trial.journal()
                    .write(new Event.Letter(now, group, Workload.ORDERS, letter.partition(), letter.offset(), now));
            letters(group).discard(List.of(letter.id()));
        });
    }

    private long waiting() throws SQLException {
        return trial.standing().number("select count(*) from trunkline.parked where key = ?", poison.key());
    }

    private long blocked() throws SQLException {
        return trial.standing().number("select count(*) from trunkline.blocked where key = ?", poison.key());
    }

    private long dead() throws SQLException {
        return trial.standing().number("select count(*) from trunkline.dead_letters where key = ?", poison.key());
    }
}
