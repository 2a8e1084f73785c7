package dev.trunkline.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.OutcomeUnknownException;
import org.junit.jupiter.api.Test;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** P8: what may have been committed is never said to have failed. */
class FailureTest {

    @Test
    void without_room_for_data_nothing_was_written() {
        assertThat(Failure.explain(said("ERROR", "53100", "md.c"))).isInstanceOf(DatabaseUnavailableException.class);
    }

    /** The enemy: the server panics after the record of the commit is written and before it is flushed; it is there after the restart. */
    @Test
    void without_room_for_wal_nobody_knows() {
        assertThat(Failure.explain(said("PANIC", "53100", "xlog.c"))).isInstanceOf(OutcomeUnknownException.class);
        assertThat(Failure.explain(said("PANIC", "58030", "fd.c"))).isInstanceOf(OutcomeUnknownException.class);
    }

    @Test
    void nobody_knows_in_any_language() {
        assertThat(Failure.explain(said("PANIK", "53100", "xlog.c"))).isInstanceOf(OutcomeUnknownException.class);
    }

    private static PSQLException said(String severity, String state, String file) {
        return new PSQLException(new ServerErrorMessage(
                "S" + severity + "\0C" + state + "\0Mno space left on device\0F" + file + "\0\0"));
    }
}
