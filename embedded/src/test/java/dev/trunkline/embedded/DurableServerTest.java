package dev.trunkline.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DurableServerTest {
    @TempDir
    Path directory;

    @Test
    void data_survives_close_and_start() throws SQLException {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.at(directory).start()) {
            Sql.run(postgres.createDatabase("orders"), "create table kept as select 42 as answer");
        }
        try (EmbeddedPostgres postgres = EmbeddedPostgres.at(directory).start()) {
            assertThat(Sql.ask(postgres.dataSource("orders"), "select answer from kept"))
                    .isEqualTo("42");
        }
    }

    @Test
    void committed_data_and_port_survive_restart_crash_and_kill() throws SQLException {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.at(directory).start()) {
            int port = postgres.port();
            Sql.run(postgres.dataSource(), "create table kept as select 42 as answer");
            List<Runnable> ends =
                    List.of(() -> postgres.restart(Shutdown.FAST), () -> postgres.restart(Shutdown.IMMEDIATE), () -> {
                        postgres.kill();
                        postgres.start();
                    });
            for (Runnable end : ends) {
                long pid = postgres.pid();
                end.run();
                assertThat(postgres.port()).isEqualTo(port);
                assertThat(postgres.pid()).isNotEqualTo(pid);
                assertThat(Sql.ask(postgres.dataSource(), "select answer from kept"))
                        .isEqualTo("42");
            }
        }
    }

    @Test
    void server_is_durable_checksummed_and_asks_for_its_password() throws Exception {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.at(directory)
                .setting("cluster_name", "it's \"quoted\"")
                .start()) {
            DataSource source = postgres.dataSource();
            assertThat(Sql.ask(source, "show fsync")).isEqualTo("on");
            assertThat(Sql.ask(source, "show synchronous_commit")).isEqualTo("on");
            assertThat(Sql.ask(source, "show data_checksums")).isEqualTo("on");
            assertThat(Sql.ask(source, "show server_encoding")).isEqualTo("UTF8");
            assertThat(Sql.ask(source, "show listen_addresses")).isEqualTo("127.0.0.1");
            assertThat(Sql.ask(source, "show max_prepared_transactions")).isEqualTo("20");
            assertThat(Sql.ask(source, "show cluster_name")).isEqualTo("it's \"quoted\"");
            assertThat(postgres.majorVersion()).isEqualTo(18);

            assertThat(Files.getPosixFilePermissions(directory.resolve("password")))
                    .isEqualTo(PosixFilePermissions.fromString("rw-------"));
            assertThatThrownBy(() -> EmbeddedPostgres.dataSource(postgres.port(), "postgres", "wrong")
                            .getConnection())
                    .hasMessageContaining("password authentication failed");
        }
    }

    @Test
    void weakened_durability_is_refused_at_start_unless_asked_for() throws SQLException {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.at(directory).start()) {
            Sql.run(postgres.dataSource(), "alter system set synchronous_commit = off");
        }
        assertThatThrownBy(() -> EmbeddedPostgres.at(directory).start())
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("synchronous_commit=off");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.at(directory)
                .setting("synchronous_commit", "off")
                .start()) {
            assertThat(Sql.ask(postgres.dataSource(), "show synchronous_commit"))
                    .isEqualTo("off");
        }
    }

    @Test
    void asked_port_is_used() throws Exception {
        int port = freePort();
        EmbeddedPostgres started = null;
        for (int i = 0; i < 5 && started == null; i++) {
            try {
                started = EmbeddedPostgres.at(directory).port(port).start();
            } catch (EmbeddedPostgresException e) {
                // Somebody else was quicker.
                assertThat(e).hasMessageContaining("Address already in use");
                port = freePort();
            }
        }
        try (EmbeddedPostgres postgres = started) {
            assertThat(postgres.port()).isEqualTo(port);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Test
    void taken_port_is_named_in_the_error() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> EmbeddedPostgres.at(directory)
                            .port(taken.getLocalPort())
                            .start())
                    .isInstanceOf(EmbeddedPostgresException.class)
                    .hasMessageContaining("on port " + taken.getLocalPort())
                    .hasMessageContaining("pg_ctl")
                    .hasMessageContaining("Address already in use");
        }
    }

    @Test
    void broken_setting_shows_what_the_server_said() {
        assertThatThrownBy(() -> EmbeddedPostgres.at(directory)
                        .setting("shared_buffers", "a lot")
                        .start())
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("invalid value for parameter \"shared_buffers\"");
    }
}
