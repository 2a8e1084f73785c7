package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.server.Cli;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The key that a first start shows, and never again. */
@Timeout(120)
class FirstKeyTest {

    @Test
    void a_start_that_fails_for_its_port_leaves_the_first_key_to_the_next_one() throws Exception {
        ServerOptions options = Api.options(Api.address(Cli.freshDatabase()));
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> Service.start(options.withPort(taken.getLocalPort())))
                    .hasMessageContaining("can not listen");
        }
        assertThatTheNextStartShowsIt(options);
    }

    @Test
    void so_does_one_that_fails_for_its_certificate(@TempDir Path directory) throws Exception {
        ServerOptions options = Api.options(Api.address(Cli.freshDatabase()));
        Path keystore = Files.writeString(directory.resolve("no.p12"), "no keystore");
        assertThatThrownBy(() -> Service.start(options.withTls(new ServerOptions.Tls(keystore, "wrong"))))
                .isInstanceOf(Exception.class);
        assertThatTheNextStartShowsIt(options);
    }

    private static void assertThatTheNextStartShowsIt(ServerOptions options) throws Exception {
        try (Api api = Api.start(options)) {
            assertThat(api.firstKey()).isPresent();
            assertThat(api.get("/v1/topics").status()).isEqualTo(200);
        }
    }
}
