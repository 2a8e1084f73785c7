package dev.trunkline.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.rig.HostileInputs;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Throws inputs at an entry point, and sees that each comes back exactly, or is refused clearly and leaves no trace. */
public final class Onslaught implements AutoCloseable {

    private static final String CATALOGUE = """
            select concat_ws('; ',
                (select string_agg(t::text, ',' order by id) from trunkline.topic t),
                (select string_agg(s::text, ',' order by id) from trunkline.subscription s),
                (select string_agg(w::text, ',' order by id) from trunkline.wildcard w),
                (select string_agg(k::text, ',' order by subscription, partition, key) from trunkline.wanted_key k),
                (select count(*) from trunkline.segment), (select count(*) from trunkline.holder), (select count(*) from trunkline.outbox),
                (select count(*) from trunkline.delayed), (select count(*) from trunkline.messages), i::text)
            from trunkline.installation i
            """;

    private final Connection connection;
    private int cases;
    /** The catalogue after the last input, if that was to be refused. */
    private @Nullable String last;

    public Onslaught(TestDatabase database) throws SQLException {
        connection = database.connect();
    }

    /** Gives an input to an entry point, and checks what came of it if it was taken. */
    @FunctionalInterface
    public interface Attempt<I> {
        void with(I input) throws Exception;
    }

    /** How texts are to be treated that are thrown at something that takes some of them. */
    public void texts(
            String entry,
            Iterable<String> texts,
            Predicate<String> fits,
            List<Class<? extends Exception>> refusals,
            Attempt<String> attempt)
            throws SQLException {
        List<String> wrong = new ArrayList<>();
        for (String text : texts) {
            one(entry + " " + HostileInputs.show(text), text, fits.test(text), refusals, attempt, wrong);
        }
        assertThat(wrong).isEmpty();
    }

    /** One input; what is wrong is added to a list. */
    public <I> void one(
            String what,
            I input,
            boolean fits,
            List<Class<? extends Exception>> refusals,
            Attempt<I> attempt,
            List<String> wrong)
            throws SQLException {
        cases++;
        String before = fits ? "" : last == null ? catalogue() : last;
        last = null;
        Exception refusal = null;
        try {
            attempt.with(input);
        } catch (Exception e) {
            refusal = e;
        } catch (AssertionError e) {
            wrong.add(what + ": " + e.getMessage());
            return;
        }
        if (fits && refusal != null) {
            wrong.add(what + " was refused: " + refusal);
        } else if (!fits && refusal == null) {
            wrong.add(what + " was taken");
        } else if (!fits && (!refusals.contains(refusal.getClass()) || isBlank(refusal.getMessage()))) {
            wrong.add(what + " was not refused properly: " + refusal);
        }
        if (!fits) {
            last = catalogue();
            if (!last.equals(before)) {
                wrong.add(what + " has left a trace");
            }
        }
    }

    private static boolean isBlank(String message) {
        return message == null || message.isBlank();
    }

    private String catalogue() throws SQLException {
        return TestDatabase.query(connection, CATALOGUE).getFirst();
    }

    /** How many inputs were thrown. */
    public int cases() {
        return cases;
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
