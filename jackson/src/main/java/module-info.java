/**
 * JSON payloads and YAML configuration through Jackson 3: see {@link dev.trunkline.jackson.JacksonCodec} and
 * {@link dev.trunkline.jackson.Configuration}.
 */
module dev.trunkline.jackson {
    requires transitive dev.trunkline;
    requires transitive tools.jackson.databind;
    requires tools.jackson.dataformat.yaml;
    requires static org.jspecify;

    exports dev.trunkline.jackson;

    provides dev.trunkline.Codec with
            dev.trunkline.jackson.JacksonCodec;
}
