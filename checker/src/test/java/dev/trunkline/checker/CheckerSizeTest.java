package dev.trunkline.checker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckerSizeTest {

    private static final int SOME = 20_000;
    private static final int MANY = 1_000_000;
    private static final String HEAP = "-Xmx1g";
    private static final Duration PROMISED = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    @Test
    void a_history_with_faults_and_all_that_comes_of_them_is_read_whole() throws IOException {
        long faults = LongHistory.write(directory, SOME);
        Verdict verdict = Checker.check(directory, Limits.standard());
        assertThat(verdict.told()).isEmpty();
        Figures figures = verdict.figures();
        int groups = LongHistory.GROUPS.size();
        assertThat(figures.acknowledged()).isEqualTo(SOME);
        assertThat(figures.effects()).isEqualTo(SOME);
        assertThat(figures.faults()).isEqualTo(faults).isEqualTo(SOME / LongHistory.FAULTS_EVERY);
        assertThat(figures.duplicates())
                .isPositive()
                .isEqualTo(faults * figures.mostOfOneFault())
                .isLessThan(faults * groups * LongHistory.UNRECORDED);
        assertThat(figures.handled()).isEqualTo((long) SOME * groups + figures.duplicates());
    }

    @Test
    @Tag("long")
    void a_million_messages_are_checked_within_a_minute_and_a_gigabyte() throws Exception {
        LongHistory.write(directory, MANY);
        long began = System.nanoTime();
        int code = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        HEAP,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Checker.class.getName(),
                        directory.toString())
                .redirectOutput(Redirect.INHERIT)
                .redirectError(Redirect.INHERIT)
                .start()
                .waitFor();
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        System.out.printf("checked %,d messages of %d groups in %s%n", MANY, LongHistory.GROUPS.size(), took);
        assertThat(code).isZero();
        assertThat(took).isLessThanOrEqualTo(PROMISED);
    }
}
