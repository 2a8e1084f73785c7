/** JSON payloads through Jackson 3: see {@link dev.trunkline.jackson.JacksonCodec}. */
module dev.trunkline.jackson {
    requires transitive dev.trunkline;
    requires transitive tools.jackson.databind;
    requires static org.jspecify;

    exports dev.trunkline.jackson;

    provides dev.trunkline.Codec with
            dev.trunkline.jackson.JacksonCodec;
}
