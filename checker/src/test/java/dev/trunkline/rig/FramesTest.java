package dev.trunkline.rig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FramesTest {

    /** Gives at most so many bytes at once. */
    private static InputStream inPieces(byte[] bytes, Random random, int most) {
        return new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] to, int offset, int length) {
                return super.read(to, offset, Math.min(length, 1 + random.nextInt(most)));
            }
        };
    }

    private static List<byte[]> all(Frames frames) throws IOException {
        List<byte[]> found = new ArrayList<>();
        try {
            while (true) {
                found.add(frames.next());
            }
        } catch (EOFException e) {
            return found;
        }
    }

    @Test
    void messages_are_whole_in_whatever_pieces_they_come() throws IOException {
        List<byte[]> sent = List.of(
                Wire.opening(Frames.ENCRYPTION),
                Wire.opening(Frames.GSS_ENCRYPTION),
                Wire.startup(),
                Wire.query("select 1"),
                Wire.frame('S'),
                Wire.query("x".repeat(200_000)),
                Wire.query("commit"));
        byte[] line = Wire.join(sent);
        for (int most : List.of(1, 2, 3, 7, 1_000, 1_000_000)) {
            assertThat(all(Frames.ofClient(inPieces(line, new Random(most), most))))
                    .as("pieces of at most %d", most)
                    .containsExactlyElementsOf(sent);
        }
    }

    @Test
    void a_message_that_is_not_whole_is_none() throws IOException {
        byte[] line = Wire.join(List.of(Wire.ready('I'), Wire.query("never ends")));
        for (int length = 6; length < line.length; length++) {
            Frames frames = Frames.ofServer(new ByteArrayInputStream(line, 0, length));
            assertThat(all(frames)).containsExactly(Wire.ready('I'));
        }
    }

    @Test
    void the_answer_about_encryption_is_one_byte_and_what_is_encrypted_is_passed_as_it_comes() throws IOException {
        Frames refused =
                Frames.ofServer(new ByteArrayInputStream(Wire.join(List.of(new byte[] {'N'}, Wire.ready('I')))));
        refused.expectAnswer();
        assertThat(all(refused)).containsExactly(new byte[] {'N'}, Wire.ready('I'));
        Frames granted = Frames.ofServer(new ByteArrayInputStream(new byte[] {'S', -1, -1, -1, -1, -1, -1}));
        granted.expectAnswer();
        assertThat(granted.next()).containsExactly('S');
        granted.expectAnything();
        assertThat(all(granted)).containsExactly(new byte[] {-1, -1, -1, -1, -1, -1});
    }

    @Test
    void what_is_no_message_is_refused() {
        Frames frames = Frames.ofServer(new ByteArrayInputStream(new byte[] {'Z', 0, 0, 0, 3, 0}));
        assertThatThrownBy(frames::next).hasMessageContaining("a message of length 3");
    }
}
