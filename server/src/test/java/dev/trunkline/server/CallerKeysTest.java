package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.trunkline.server.http.ServerOptions;
import dev.trunkline.server.http.Service;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code trunkline keys}. */
@Timeout(180)
class CallerKeysTest {

    private final String database = Cli.freshDatabase();
    private final JsonMapper mapper = new JsonMapper();

    @BeforeEach
    void migrate() {
        out("migrate");
    }

    private String out(String... arguments) {
        Cli.Result result = Cli.on(database, arguments);
        assertThat(result.code()).as(result.err()).isZero();
        return result.out();
    }

    private static int status(Service service, String path, String key) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(service.url() + path))
                    .header("Authorization", "Bearer " + key)
                    .timeout(Duration.ofSeconds(30))
                    .build();
            return client.send(request, BodyHandlers.ofString()).statusCode();
        }
    }

    @Test
    void who_has_lost_all_keys_makes_another_and_revokes_the_old_one() throws Exception {
        Address address = Address.of(
                Cli.postgres().jdbcUrl(database),
                Cli.postgres().user(),
                Cli.postgres().password(),
                "trunkline");
        try (Service service = Service.start(ServerOptions.local(address, 100_000))) {
            String lost = service.firstKey().orElseThrow();
            String created = out("keys", "create", "again", "--verbs", "admin,read");
            String key = created.substring(created.indexOf("tl_")).strip();
            assertThat(created).contains("shown once");
            assertThat(status(service, "/v1/keys", key)).isEqualTo(200);
            assertThat(status(service, "/v1/keys", lost)).isEqualTo(200);
            JsonNode first = mapper.readTree(out("keys", "list", "--json")).get(0);
            assertThat(first.get("name").asString()).isEqualTo("first");
            assertThat(out("keys", "revoke", first.get("id").asString(), "--json"))
                    .isEqualToIgnoringNewLines("{\"revoked\":" + first.get("id") + "}");
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> status(service, "/v1/keys", lost) == 401);
            assertThat(status(service, "/v1/keys", key)).isEqualTo(200);
        }
        assertThat(out("keys", "list"))
                .containsPattern("first +READ,PUBLISH,CONSUME,ADMIN +\\* +\\* +20\\S+ +20")
                .containsPattern("again +READ,ADMIN +\\* +\\* +20\\S+\\R");
    }

    @Test
    void a_key_has_its_bounds_and_its_making_is_noted() throws Exception {
        JsonNode created = mapper.readTree(out(
                "keys",
                "create",
                "shop",
                "--verbs",
                "PUBLISH",
                "--topics",
                "orders.*",
                "--groups",
                "g",
                "--expires-in",
                "P1D",
                "--json"));
        assertThat(created.get("key").asString()).startsWith("tl_");
        assertThat(out("keys", "list"))
                .containsPattern("shop +PUBLISH +orders\\.\\* +g +20\\S+ +20")
                .doesNotContain("tl_");
        try (Connection connection = Cli.postgres().dataSource(database).getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select who, what, target from trunkline.audit_log")) {
            assertThat(row.next()).isTrue();
            assertThat(row.getString(1))
                    .isEqualTo("database user " + Cli.postgres().user());
            assertThat(row.getString(2)).isEqualTo("keys create");
            assertThat(row.getString(3)).isEqualTo("shop");
        }
    }

    @Test
    void what_is_wrong_is_told_in_one_line() {
        for (String[] wrong : new String[][] {
            {"keys", "create", "", "--verbs", "READ"},
            {"keys", "create", "me"},
            {"keys", "create", "me", "--verbs", "DANCE"},
            {"keys", "create", "me", "--verbs", "READ", "--topics", " "},
            {"keys", "create", "me", "--verbs", "READ", "--expires-in", "PT0S"},
            {"keys", "revoke", "x"}
        }) {
            Cli.Result result = Cli.on(database, wrong);
            assertThat(result.code()).as("%s", (Object) wrong).isEqualTo(2);
            assertThat(result.err()).startsWith("trunkline: ").hasLineCount(1);
        }
        Cli.Result nobody = Cli.on(database, "keys", "revoke", "99");
        assertThat(nobody.code()).isEqualTo(1);
        assertThat(nobody.err()).hasLineCount(1).contains("no key 99");
    }
}
