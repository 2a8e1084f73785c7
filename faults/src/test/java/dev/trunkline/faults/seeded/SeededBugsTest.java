package dev.trunkline.faults.seeded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class SeededBugsTest {

    @TempDir
    Path directory;

    @Test
    void every_seeded_bug_is_caught_by_its_name_and_the_right_way_is_clean() throws Exception {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        boolean caught = SeededBugs.run(directory, new PrintStream(said, true, StandardCharsets.UTF_8));
        assertThat(caught).as(said.toString(StandardCharsets.UTF_8)).isTrue();
        assertThat(SeededBugs.all()).hasSizeGreaterThanOrEqualTo(27);
    }
}
