package dev.trunkline.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VersionTest {
    @TempDir
    Path directory;

    private static Path jar(int major) {
        return Path.of("target", "postgres", major + ".jar");
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 16, 17})
    void older_version_starts(int major) throws SQLException {
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.temporary().binaries(jar(major)).unsafeFast().start()) {
            assertThat(postgres.majorVersion()).isEqualTo(major);
            assertThat(Sql.ask(postgres.dataSource(), "show server_version")).startsWith(major + ".");
            assertThat(Sql.ask(postgres.dataSource(), "show data_checksums")).isEqualTo("on");
        }
    }

    @Test
    void data_of_another_major_version_is_refused() {
        EmbeddedPostgres.at(directory).binaries(jar(17)).unsafeFast().start().close();

        assertThatThrownBy(() -> EmbeddedPostgres.at(directory).start())
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("made by PostgreSQL 17")
                .hasMessageContaining("binaries are of PostgreSQL 18")
                .hasMessageContaining("dump");
    }
}
