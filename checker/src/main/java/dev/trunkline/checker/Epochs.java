package dev.trunkline.checker;

import dev.trunkline.checker.Event.Accepted;
import dev.trunkline.checker.Event.Effect;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** C7: nothing is accepted from an owner once something was from a later one. */
final class Epochs {

    /** Something that was accepted, with the effect if it is one. */
    private record Commit(long time, long epoch, Optional<Effect> effect) {}

    private final Share about;

    Epochs(Share about) {
        this.about = about;
    }

    void run() {
        Commit newest = null;
        for (Commit commit : commits()) {
            if (newest != null && commit.epoch < newest.epoch) {
                about.add(
                        Invariant.C7,
                        "%s was accepted from epoch %d after %s from epoch %d"
                                .formatted(words(commit), commit.epoch, words(newest), newest.epoch),
                        values(newest, commit));
            } else {
                newest = commit;
            }
        }
    }

    /** One after the other; what was at the same instant may have been in any order. */
    private List<Commit> commits() {
        List<Commit> commits = new ArrayList<>();
        for (Effect effect : about.history().effects.getOrDefault(about.stake(), List.of())) {
            commits.add(new Commit(effect.time(), effect.epoch(), Optional.of(effect)));
        }
        for (Accepted accepted : about.history().accepted.getOrDefault(about.stake(), List.of())) {
            commits.add(new Commit(accepted.time(), accepted.epoch(), Optional.empty()));
        }
        commits.sort(Comparator.comparingLong(Commit::time).thenComparingLong(Commit::epoch));
        return commits;
    }

    private String words(Commit commit) {
        return commit.effect
                .map(effect -> "\"%s\" at %s".formatted(effect.value(), about.at(effect.offset())))
                .orElseGet(() -> "a record of %s at %d".formatted(about.stake().partition(), commit.time));
    }

    private static String[] values(Commit... commits) {
        return Stream.of(commits)
                .flatMap(commit -> commit.effect.stream())
                .map(Effect::value)
                .toArray(String[]::new);
    }
}
