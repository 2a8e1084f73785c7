package dev.trunkline;

/** Stands in where no codec is on the class path: says how to get one. */
final class NoCodec implements Codec {

    @Override
    public String contentType() {
        return "application/octet-stream";
    }

    @Override
    public byte[] encode(Object payload) {
        throw missing(payload.getClass());
    }

    @Override
    public <T> T decode(byte[] payload, Class<T> type) {
        throw missing(type);
    }

    private static InvalidMessageException missing(Class<?> type) {
        return new InvalidMessageException("there is no codec for " + type.getName()
                + ": put trunkline-jackson on the class path, give Trunkline a codec, or publish a byte[] or a String");
    }
}
