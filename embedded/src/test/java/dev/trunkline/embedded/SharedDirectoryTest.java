package dev.trunkline.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedDirectoryTest {
    @TempDir
    Path directory;

    /** Runs in a JVM of its own. */
    static final class Other {
        private Other() {}

        public static void main(String[] arguments) throws InterruptedException {
            EmbeddedPostgres postgres =
                    EmbeddedPostgres.at(Path.of(arguments[0])).start();
            System.out.println("pid " + postgres.pid());
            Thread.currentThread().join();
        }
    }

    @Test
    void server_of_a_killed_jvm_is_adopted_and_then_stopped_by_its_adopter() throws Exception {
        Process other = startOther();
        long pid = pidFrom(other);
        other.destroyForcibly().waitFor();
        ProcessHandle server = ProcessHandle.of(pid).orElseThrow();

        try (EmbeddedPostgres postgres = EmbeddedPostgres.at(directory).start()) {
            assertThat(postgres.pid()).isEqualTo(pid);
            assertThat(Sql.ask(postgres.dataSource(), "select 1")).isEqualTo("1");
        }

        server.onExit().get();
    }

    @Test
    void guest_leaves_the_server_to_its_owner() throws Exception {
        Process other = startOther();
        long pid = pidFrom(other);

        try (EmbeddedPostgres guest = EmbeddedPostgres.at(directory).start()) {
            assertThat(guest.pid()).isEqualTo(pid);
        }

        assertThat(ProcessHandle.of(pid)).isPresent();
        other.destroyForcibly().waitFor();
        EmbeddedPostgres.at(directory).start().close();
    }

    @Test
    void adopted_server_that_is_not_durable_is_restarted() throws SQLException {
        EmbeddedPostgres owner = EmbeddedPostgres.at(directory).unsafeFast().start();
        long pid = owner.pid();
        owner.abandon();

        try (EmbeddedPostgres postgres = EmbeddedPostgres.at(directory).start()) {
            assertThat(postgres.pid()).isNotEqualTo(pid);
            assertThat(Sql.ask(postgres.dataSource(), "show fsync")).isEqualTo("on");
        }
    }

    @Test
    void two_that_start_at_once_share_one_server() throws Exception {
        CyclicBarrier together = new CyclicBarrier(2);
        Callable<EmbeddedPostgres> start = () -> {
            together.await();
            return EmbeddedPostgres.at(directory).start();
        };
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<EmbeddedPostgres> first = threads.submit(start);
            Future<EmbeddedPostgres> second = threads.submit(start);
            try (EmbeddedPostgres one = first.get();
                    EmbeddedPostgres two = second.get()) {
                assertThat(one.pid()).isEqualTo(two.pid());
            }
        }
    }

    @Test
    void two_jvms_that_start_at_once_share_one_server() throws Exception {
        Process one = startOther();
        Process two = startOther();
        assertThat(pidFrom(one)).isEqualTo(pidFrom(two));
        one.destroyForcibly().waitFor();
        two.destroyForcibly().waitFor();
        EmbeddedPostgres.at(directory).start().close();
    }

    private Process startOther() throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        return new ProcessBuilder(
                        java.toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Other.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static long pidFrom(Process process) throws Exception {
        BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String line = output.readLine();
        assertThat(line).startsWith("pid ");
        return Long.parseLong(line.substring(4));
    }
}
