package dev.trunkline.database;

import dev.trunkline.ConsumerGroupException;
import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.IncompatibleDatabaseException;
import dev.trunkline.InvalidMessageException;
import dev.trunkline.InvalidTopicException;
import dev.trunkline.LeaseExpiredException;
import dev.trunkline.NoSubscriptionsException;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.PayloadTooLargeException;
import dev.trunkline.TopicExistsException;
import dev.trunkline.TrunklineException;
import dev.trunkline.UnknownTopicException;
import java.sql.SQLException;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** What an {@link SQLException} means for whoever made the call. */
public enum Failure {
    /** Nothing was written, and trying again will not help. */
    DEFINITE,
    /** Nothing was written, and the same call may succeed later. */
    PASSING,
    /** A lock was not to be had in time. Nothing was written. */
    LOCKED,
    /** The connection was lost after the call was sent: it may have been committed. */
    UNKNOWN;

    /** The meaning of an error that came out of executing a statement in autocommit mode. */
    public static Failure of(SQLException e) {
        if (isPanic(e)) {
            return UNKNOWN;
        }
        String state = state(e);
        return switch (state) {
            case "55P03" -> LOCKED;
            case "40001", "40P01", "53100", "53200", "53300", "57014" -> PASSING;
            case "57P01", "57P02", "57P03" -> UNKNOWN;
            default -> state.startsWith("08") || state.isEmpty() ? UNKNOWN : DEFINITE;
        };
    }

    /** The exception that says it to a user. */
    public static TrunklineException explain(SQLException e) {
        String what = message(e);
        return switch (state(e)) {
            case "TL001" -> new UnknownTopicException(what, e);
            case "TL002" -> new PayloadTooLargeException(what, e);
            case "TL003" -> new InvalidMessageException(what, e);
            case "TL005" -> new InvalidTopicException(what, e);
            case "TL008" -> new ConsumerGroupException(what, e);
            case "TL010" -> new NoSubscriptionsException(what, e);
            case "TL009" -> new LeaseExpiredException(what, Long.parseLong(detail(e)), e);
            case "TL006" -> new TopicExistsException(what, e);
            case "TL004", "TL007" -> new IncompatibleDatabaseException(what, e);
            case "42501" -> new TrunklineException(what + ": connect as a member of the role that may do this", e);
            default ->
                switch (of(e)) {
                    case UNKNOWN ->
                        new OutcomeUnknownException(
                                "the connection was lost before the answer came (" + what + "): the outcome is unknown",
                                e);
                    case PASSING, LOCKED ->
                        new DatabaseUnavailableException(what + ": nothing was written, try again", e);
                    case DEFINITE -> new TrunklineException(what, e);
                };
        };
    }

    /** The exception that says it to a user who only read. */
    public static TrunklineException explainRead(SQLException e) {
        return of(e) == UNKNOWN
                ? new DatabaseUnavailableException("the connection was lost (" + message(e) + "): try again", e)
                : explain(e);
    }

    /** The exception for not having got a connection at all. */
    public static DatabaseUnavailableException noConnection(SQLException e) {
        return new DatabaseUnavailableException(
                "no connection to the database (" + e.getMessage() + "): nothing was written, try again", e);
    }

    /**
     * Whether the server has ended over it: for lack of room for WAL, say, in the midst of a commit that may be there when it is back. Its word
     * for that may be translated; the name of the file that says it is not.
     */
    private static boolean isPanic(SQLException e) {
        ServerErrorMessage server = e instanceof PSQLException p ? p.getServerErrorMessage() : null;
        return server != null && ("PANIC".equals(server.getSeverity()) || "xlog.c".equals(server.getFile()));
    }

    private static String state(SQLException e) {
        return e.getSQLState() == null ? "" : e.getSQLState();
    }

    private static String message(SQLException e) {
        if (e instanceof PSQLException p) {
            ServerErrorMessage server = p.getServerErrorMessage();
            if (server != null && server.getMessage() != null) {
                return server.getHint() == null
                        ? server.getMessage()
                        : server.getMessage() + ": " + lowerFirst(server.getHint());
            }
        }
        return String.valueOf(e.getMessage());
    }

    private static String detail(SQLException e) {
        return e instanceof PSQLException p && p.getServerErrorMessage() != null
                ? String.valueOf(p.getServerErrorMessage().getDetail())
                : "";
    }

    private static String lowerFirst(String sentence) {
        String trimmed = sentence.endsWith(".") ? sentence.substring(0, sentence.length() - 1) : sentence;
        return trimmed.isEmpty() ? trimmed : Character.toLowerCase(trimmed.charAt(0)) + trimmed.substring(1);
    }
}
