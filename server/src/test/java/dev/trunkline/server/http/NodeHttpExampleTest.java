package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.examples.Program;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code examples/node-http}: what the contract says to a client that is not ours, Node's fetch. */
@Timeout(180)
class NodeHttpExampleTest {

    @Test
    void node_publishes_pulls_acknowledges_and_follows_the_log() throws Exception {
        Program.assumeFound("node");
        try (Api api = Api.start()) {
            assertThat(Program.run(
                            Path.of("..", "examples", "node-http"),
                            Map.of(
                                    "TRUNKLINE_SERVER",
                                    api.url(),
                                    "TRUNKLINE_KEY",
                                    api.firstKey().orElseThrow()),
                            "node",
                            "example.js"))
                    .containsExactly(
                            "published 3",
                            "pulled ada {\"total\":12.5} {\"source\":\"shop\"}",
                            "pulled bob grüße {}",
                            "pulled ada AP8= {}",
                            "seen 0 0 application/json",
                            "seen 0 1 text/plain",
                            "seen 0 2 application/octet-stream",
                            "refused 400 [1].colour",
                            "refused 409 2");
            assertThat(api.get("/v1/topics/node-http/groups/shared").at("/pending"))
                    .isEqualTo("0");
        }
    }
}
