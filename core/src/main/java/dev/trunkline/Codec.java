package dev.trunkline;

/**
 * Turns objects into payloads and back. The first provider that {@link java.util.ServiceLoader} finds is the default:
 * with {@code trunkline-jackson} on the class path that is JSON by Jackson.
 */
public interface Codec {

    /** For example {@code application/json}. */
    String contentType();

    /**
     * Turns an object into a payload.
     *
     * @throws InvalidMessageException if the object can not be encoded
     */
    byte[] encode(Object payload);

    /**
     * Turns a payload into an object.
     *
     * @throws InvalidMessageException if the payload can not be decoded
     */
    <T> T decode(byte[] payload, Class<T> type);
}
