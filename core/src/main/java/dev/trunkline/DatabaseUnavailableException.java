package dev.trunkline;

/** The database could not be reached, or refused for now. Nothing was written; try again. */
public final class DatabaseUnavailableException extends TrunklineException {

    private static final long serialVersionUID = 1L;

    public DatabaseUnavailableException(String message) {
        super(message);
    }

    public DatabaseUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
