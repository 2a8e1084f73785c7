package dev.trunkline.server.doctor;

import java.sql.SQLException;
import java.util.List;

/**
 * One question.
 *
 * @param name what it is about
 * @param meaning what it means if something is found
 * @param advice what to do then
 * @param needs what it takes to look, beyond a connection
 * @param look what is wrong, a text for each thing
 */
record Check(String name, String meaning, String advice, String needs, Look look) {

    /** Looks at a database. */
    @FunctionalInterface
    interface Look {
        List<String> at(Patient patient) throws SQLException, NotChecked;
    }

    /** It can not be told, because something is missing. */
    static final class NotChecked extends Exception {
        private static final long serialVersionUID = 1;

        private final String needs;

        NotChecked(String needs) {
            super(needs);
            this.needs = needs;
        }

        String needs() {
            return needs;
        }
    }
}
