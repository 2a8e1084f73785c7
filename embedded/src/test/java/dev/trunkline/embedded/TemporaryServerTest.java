package dev.trunkline.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class TemporaryServerTest {
    @Test
    void directory_is_deleted_on_close() throws SQLException {
        EmbeddedPostgres postgres = EmbeddedPostgres.temporary().unsafeFast().start();
        assertThat(postgres.dataDirectory()).exists();
        assertThat(Sql.ask(postgres.dataSource(), "show fsync")).isEqualTo("off");
        assertThatThrownBy(() -> postgres.createDatabase("a; drop table b"))
                .isInstanceOf(IllegalArgumentException.class);

        postgres.close();
        postgres.close();

        assertThat(postgres.dataDirectory()).doesNotExist();
    }

    @Test
    void server_abandoned_by_a_killed_jvm_is_cleared_by_a_later_one() throws Exception {
        EmbeddedPostgres abandoned = EmbeddedPostgres.temporary().unsafeFast().start();
        ProcessHandle server = ProcessHandle.of(abandoned.pid()).orElseThrow();
        abandoned.abandon();
        Files.setLastModifiedTime(
                abandoned.dataDirectory().resolve("lock"),
                FileTime.from(Instant.now().minusSeconds(3600)));

        EmbeddedPostgres.temporary().unsafeFast().start().close();

        // Another JVM that starts one just now may be about it.
        await().atMost(Duration.ofMinutes(1)).until(() -> Files.notExists(abandoned.dataDirectory()));
        server.onExit().get();
    }

    @Test
    void what_a_killed_jvm_left_half_made_or_half_deleted_is_cleared_too() throws Exception {
        EmbeddedPostgres running = EmbeddedPostgres.temporary().unsafeFast().start();
        Path half = Files.createTempDirectory(running.dataDirectory().getParent(), "temporary-");
        Path young = Files.createTempDirectory(running.dataDirectory().getParent(), "temporary-");
        running.close();
        Files.createFile(half.resolve("password"));
        Files.setLastModifiedTime(half, FileTime.from(Instant.now().minusSeconds(3600)));

        EmbeddedPostgres.temporary().unsafeFast().start().close();

        await().atMost(Duration.ofMinutes(1)).until(() -> Files.notExists(half));
        assertThat(young).exists();
        Files.delete(young);
    }

    @Test
    void root_without_user_namespaces_runs_it_as_nobody() throws SQLException {
        assumeTrue(System.getProperty("user.name").equals("root"));
        try (EmbeddedPostgres postgres = EmbeddedPostgres.temporary()
                .account(Account.NOBODY)
                .unsafeFast()
                .start()) {
            assertThat(Sql.ask(postgres.dataSource(), "select 1")).isEqualTo("1");
            postgres.kill();
            postgres.start();
            postgres.restart(Shutdown.FAST);
            assertThat(ProcessHandle.of(postgres.pid()).orElseThrow().info().user())
                    .contains("nobody");
        }
    }
}
