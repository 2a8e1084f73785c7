package dev.trunkline;

/**
 * The database is not one that this version works with: not PostgreSQL 15 or newer, a schema of a newer version, a standby, an encoding other than UTF-8.
 */
public final class IncompatibleDatabaseException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    public IncompatibleDatabaseException(String message) {
        super(message);
    }

    public IncompatibleDatabaseException(String message, Throwable cause) {
        super(message, cause);
    }
}
