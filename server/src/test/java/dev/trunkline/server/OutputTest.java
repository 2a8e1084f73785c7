package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OutputTest {

    private static Optional<String> decoded(byte[] bytes) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    private static byte[] bytes(long number, int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (number >> (8 * (count - 1 - i)));
        }
        return bytes;
    }

    @Test
    void of_all_pairs_and_triples_of_bytes_those_are_text_that_java_decodes() {
        for (int number = 0; number < 1 << 16; number++) {
            assertThat(Output.text(bytes(number, 2))).isEqualTo(decoded(bytes(number, 2)));
        }
        for (int number = 0x800000; number < 1 << 24; number += 7) {
            byte[] three = bytes(number, 3);
            if (!Output.text(three).equals(decoded(three))) {
                assertThat(three).as("text, or not").isNull();
            }
        }
    }

    @Test
    void of_all_ends_of_four_bytes_those_are_text_that_java_decodes() {
        for (int first = 0xEF; first < 0xF8; first++) {
            for (int second = 0x70; second < 0xD0; second++) {
                for (int last : new int[] {0x7F80, 0x8080, 0xBFBF, 0xBFC0, 0x80C0, 0xC080, 0x8000}) {
                    byte[] four = bytes(((long) first << 24) | (second << 16) | last, 4);
                    assertThat(Output.text(four)).isEqualTo(decoded(four));
                }
            }
        }
    }

    @Test
    void what_would_tell_a_terminal_what_to_do_is_shown_instead() {
        assertThat(Output.printable("a\tb\r\n\033]0;title\007\u009b2J\u007f"))
                .isEqualTo("a\\tb\\r\\n\\u001b]0;title\\u0007\\u009b2J\\u007f");
        assertThat(Output.printable("grüße \\ $1 注文 🚀")).isEqualTo("grüße \\ $1 注文 🚀");
        for (int control = 0; control < 0xA0; control++) {
            if (Character.isISOControl(control)) {
                assertThat(Output.printable("x" + (char) control)).matches("x\\\\([nrt]|u00..)");
            }
        }
    }

    @Test
    void texts_that_were_spoilt_somewhere_are_judged_as_java_does() {
        Random random = new Random(11);
        byte[] text = "a key \u00fc \u20ac \ud83d\ude80 \ufffd end".getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 100_000; i++) {
            byte[] spoilt = text.clone();
            spoilt[random.nextInt(text.length)] = (byte) random.nextInt();
            assertThat(Output.text(spoilt)).isEqualTo(decoded(spoilt));
        }
        assertThat(Output.text(text)).isPresent();
        assertThat(Output.text(new byte[0])).hasValue("");
    }
}
