package dev.trunkline.log;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.trunkline.Codec;
import dev.trunkline.InvalidMessageException;
import dev.trunkline.Message;
import dev.trunkline.outbox.Encoded;
import dev.trunkline.rig.HostileInputs;
import dev.trunkline.testing.Seed;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Headers lie in a frame as an array literal: what was written is read, and no literal confuses the reader. See docs/fuzzing.md. */
class HeadersFuzzTest {

    private static final Codec NONE = new Codec() {
        @Override
        public String contentType() {
            return "none/none";
        }

        @Override
        public byte[] encode(Object payload) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <T> T decode(byte[] payload, Class<T> type) {
            throw new UnsupportedOperationException();
        }
    };

    @FuzzTest(maxDuration = "2m")
    void any_literal_is_read(byte[] bytes) {
        FrameReader.headers(new String(bytes, StandardCharsets.UTF_8));
    }

    @FuzzTest(maxDuration = "2m")
    void what_was_written_is_read(byte[] bytes) {
        Map<String, String> headers = new LinkedHashMap<>();
        String[] texts = new String(bytes, StandardCharsets.UTF_16).split("=", -1);
        for (int i = 0; i + 1 < texts.length; i += 2) {
            headers.put(texts[i], texts[i + 1]);
        }
        writeAndRead(headers);
    }

    @Test
    void bad_names_and_values_are_read_as_they_were_written() {
        long seed = Seed.next();
        Random random = new Random(seed);
        List<String> texts = HostileInputs.names();
        for (int round = 0; round < 10_000; round++) {
            Map<String, String> headers = new LinkedHashMap<>();
            for (int i = random.nextInt(6); i > 0; i--) {
                headers.put(texts.get(random.nextInt(texts.size())), texts.get(random.nextInt(texts.size())));
            }
            assertThat(writeAndRead(headers) || !headers.isEmpty())
                    .as("seed %d", seed)
                    .isTrue();
        }
    }

    /** Whether they were taken. */
    private static boolean writeAndRead(Map<String, String> headers) {
        Encoded encoded;
        try {
            encoded = Encoded.of(Message.of("t", "x").withHeaders(headers), NONE);
        } catch (InvalidMessageException e) {
            assertThat(e).hasMessageContaining("header");
            return false;
        }
        assertThat(FrameReader.headers(encoded.headers())).isEqualTo(headers);
        return true;
    }
}
