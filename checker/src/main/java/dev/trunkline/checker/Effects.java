package dev.trunkline.checker;

import dev.trunkline.checker.Event.Effect;
import dev.trunkline.checker.History.Place;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** C10: what handlers did to the database happened once, and in order. */
final class Effects {

    private final Share about;

    Effects(Share about) {
        this.about = about;
    }

    void run() {
        List<Effect> effects = about.history().effects.getOrDefault(about.stake(), List.of());
        about.figures().effects += effects.size();
        inOrder(effects);
        once(effects);
    }

    private void inOrder(List<Effect> effects) {
        Map<String, Effect> lastOfKey = new HashMap<>();
        for (Effect effect : effects) {
            Place place = about.places().get(effect.offset());
            if (place == null || !place.value().equals(effect.value())) {
                about.add(
                        Invariant.C10,
                        "\"%s\" has an effect and is not at %s".formatted(effect.value(), about.at(effect.offset())),
                        effect.value());
            } else if (place.key() != null) {
                Effect before = lastOfKey.put(place.key(), effect);
                if (before != null && before.offset() > effect.offset()) {
                    about.add(
                            Invariant.C10,
                            "the effect of \"%s\" at %s came after that of \"%s\" at @%d of its key"
                                    .formatted(
                                            effect.value(), about.at(effect.offset()), before.value(), before.offset()),
                            before.value(),
                            effect.value());
                }
            }
        }
    }

    private void once(List<Effect> effects) {
        Set<Long> seen = new HashSet<>();
        for (Effect effect : effects) {
            if (!seen.add(effect.offset())) {
                about.add(
                        Invariant.C10,
                        "\"%s\" at %s has two effects".formatted(effect.value(), about.at(effect.offset())),
                        effect.value());
            }
            if (about.terms().isLetter(effect.offset())) {
                about.add(
                        Invariant.C10,
                        "\"%s\" at %s has an effect and is a dead letter"
                                .formatted(effect.value(), about.at(effect.offset())),
                        effect.value());
            }
        }
        if (!about.history().hasEffects(about.stake().group())
                || about.history().hasLeft(about.stake())) {
            return;
        }
        for (Place place : about.places().values()) {
            if (!seen.contains(place.offset()) && !about.terms().excuse(place.offset())) {
                about.add(
                        Invariant.C10,
                        "\"%s\" at %s has no effect".formatted(place.value(), about.at(place.offset())),
                        place.value());
            }
        }
    }
}
