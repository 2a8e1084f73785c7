package dev.trunkline.server.doctor;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a check has found.
 *
 * @param found empty unless something is wrong
 * @param needs what it takes to look, if it could not be looked at
 */
record Diagnosis(
        String check,
        State state,
        List<String> found,
        String meaning,
        String advice,
        @Nullable String needs) {

    enum State {
        OK,
        WRONG,
        NOT_CHECKED
    }
}
