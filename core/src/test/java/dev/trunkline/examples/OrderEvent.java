package dev.trunkline.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.trunkline.Codec;

/** What the examples publish. Its codec is here because {@code trunkline-jackson}, with which none is needed, is built after core. */
record OrderEvent(String orderId, int sequence) {

    static final Codec CODEC = new Codec() {
        @Override
        public String contentType() {
            return "text/plain";
        }

        @Override
        public byte[] encode(Object payload) {
            OrderEvent event = (OrderEvent) payload;
            return (event.sequence + " " + event.orderId).getBytes(UTF_8);
        }

        @Override
        public <T> T decode(byte[] payload, Class<T> type) {
            String[] parts = new String(payload, UTF_8).split(" ", 2);
            return type.cast(new OrderEvent(parts[1], Integer.parseInt(parts[0])));
        }
    };
}
