package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.rig.FaultProxy;
import dev.trunkline.server.Address;
import dev.trunkline.server.Cli;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** While the database is away. */
@Timeout(180)
class AwayTest {

    @Test
    void a_server_says_that_it_can_not_serve_and_goes_on_when_it_can() throws Exception {
        String database = Cli.freshDatabase();
        try (FaultProxy line = new FaultProxy(Cli.postgres().port());
                Api api = Api.start(Api.options(new Address(
                        line.jdbcUrl(database),
                        Cli.postgres().user(),
                        Cli.postgres().password(),
                        "trunkline")))) {
            api.post("/v1/topics", "{\"name\": \"t\", \"partitions\": 1}");
            line.refuse(true);
            line.cutNow();
            assertThat(api.get("/health").status()).isEqualTo(200);
            assertThat(api.get("/ready").status()).isEqualTo(503);
            Api.Answer away = api.post("/v1/topics/t/messages", "{\"text\": \"a\"}");
            assertThat(away.status()).as(away.toString()).isEqualTo(503);
            assertThat(away.type()).isEqualTo("application/problem+json");
            assertThat(away.response().headers().firstValue("Retry-After")).isPresent();
            List<Future<Integer>> all = new ArrayList<>();
            try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < 20; i++) {
                    String path = i % 2 == 0 ? "/v1/topics" : "/metrics";
                    all.add(callers.submit(() -> api.get(path).status()));
                }
            }
            assertThat(all).extracting(Future::resultNow).containsOnly(503);
            String said = api.as(null).get("/ready").text();
            assertThat(said).contains("the database does not answer").doesNotContain("total=", "FATAL", "onnection");
            line.restore();
            Awaitility.await()
                    .until(() -> api.post("/v1/topics/t/messages", "{\"text\": \"b\"}")
                                    .status()
                            == 201);
            Awaitility.await().until(() -> api.get("/ready").status() == 200);
        }
    }
}
