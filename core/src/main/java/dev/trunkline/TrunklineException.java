package dev.trunkline;

/** What Trunkline throws. The message says what is wrong, with the state, and what to do next. */
public class TrunklineException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public TrunklineException(String message) {
        super(message);
    }

    public TrunklineException(String message, Throwable cause) {
        super(message, cause);
    }
}
