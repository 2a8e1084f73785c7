package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import dev.trunkline.server.Cli;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Callers who show a JWT of an issuer. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class JwtTest {

    private static final String ISSUER = "https://issuer.example";
    private static final String AUDIENCE = "trunkline";

    private HttpServer issuer;
    private RSAKey key;
    private RSAKey strangers;
    private Api api;

    @BeforeAll
    void start() throws Exception {
        key = new RSAKeyGenerator(2048).keyID("1").generate();
        strangers = new RSAKeyGenerator(2048).keyID("1").generate();
        issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        byte[] keys = new JWKSet(key).toString().getBytes(StandardCharsets.UTF_8);
        issuer.createContext("/keys", exchange -> {
            exchange.sendResponseHeaders(200, keys.length);
            exchange.getResponseBody().write(keys);
            exchange.close();
        });
        issuer.start();
        URI at = URI.create("http://127.0.0.1:" + issuer.getAddress().getPort() + "/keys");
        api = Api.start(Api.options(Api.address(Cli.freshDatabase()))
                .withIssuer(new ServerOptions.Issuer(ISSUER, AUDIENCE, at)));
        api.post("/v1/topics", "{\"name\": \"orders.eu\", \"partitions\": 1}");
        api.post("/v1/topics", "{\"name\": \"secret\", \"partitions\": 1}");
    }

    @AfterAll
    void stop() {
        api.close();
        issuer.stop(0);
    }

    private static JWTClaimsSet.Builder claims() {
        return new JWTClaimsSet.Builder()
                .issuer(ISSUER)
                .audience(AUDIENCE)
                .subject("shop")
                .expirationTime(Date.from(Instant.now().plusSeconds(600)))
                .claim("trunkline", Map.of("verbs", List.of("PUBLISH", "READ"), "topics", "orders.*", "groups", "*"));
    }

    private static String signed(JWSAlgorithm algorithm, JWSSigner signer, JWTClaimsSet claims) throws Exception {
        SignedJWT jwt =
                new SignedJWT(new JWSHeader.Builder(algorithm).keyID("1").build(), claims);
        jwt.sign(signer);
        return jwt.serialize();
    }

    private String signed(JWTClaimsSet claims) throws Exception {
        return signed(JWSAlgorithm.RS256, new RSASSASigner(key), claims);
    }

    private int status(String token, String topic) throws Exception {
        return api.as(token).get("/v1/topics/" + topic).status();
    }

    @Test
    void one_may_what_its_claim_says_and_nothing_else() throws Exception {
        String token = signed(claims().build());
        assertThat(status(token, "orders.eu")).isEqualTo(200);
        assertThat(status(token, "secret")).isEqualTo(403);
        assertThat(api.as(token)
                        .post("/v1/topics/orders.eu/messages", "{\"text\": \"a\"}")
                        .status())
                .isEqualTo(201);
        assertThat(api.as(token).post("/v1/keys", "{}").status()).isEqualTo(403);
        assertThat(status(signed(claims().claim("trunkline", null).build()), "orders.eu"))
                .isEqualTo(403);
    }

    @Test
    void one_that_is_not_the_issuers_or_not_for_us_or_not_good_any_more_is_refused() throws Exception {
        JWTClaimsSet good = claims().build();
        Date past = Date.from(Instant.now().minusSeconds(600));
        Map<String, String> bad = Map.ofEntries(
                Map.entry("another's key", signed(JWSAlgorithm.RS256, new RSASSASigner(strangers), good)),
                Map.entry("no signature", new PlainJWT(good).serialize()),
                Map.entry(
                        "the public key as a secret",
                        signed(
                                JWSAlgorithm.HS256,
                                new MACSigner(key.toRSAPublicKey().getEncoded()),
                                good)),
                Map.entry("an algorithm that is not ours", signed(JWSAlgorithm.RS512, new RSASSASigner(key), good)),
                Map.entry("expired", signed(claims().expirationTime(past).build())),
                Map.entry("for ever", signed(claims().expirationTime(null).build())),
                Map.entry("nobody", signed(claims().subject(null).build())),
                Map.entry(
                        "another issuer",
                        signed(claims().issuer("https://other.example").build())),
                Map.entry("another audience", signed(claims().audience("shop").build())),
                Map.entry(
                        "no verb",
                        signed(claims().claim(
                                        "trunkline", Map.of("verbs", List.of("ALL"), "topics", "*", "groups", "*"))
                                .build())),
                Map.entry(
                        "no topics",
                        signed(claims().claim("trunkline", Map.of("verbs", List.of("READ")))
                                .build())),
                Map.entry("cut off", signed(good).substring(0, 40)),
                Map.entry("nonsense", "a.b.c"));
        for (Map.Entry<String, String> each : bad.entrySet()) {
            assertThat(status(each.getValue(), "orders.eu")).as(each.getKey()).isEqualTo(401);
        }
    }

    @Test
    void one_that_names_a_key_that_the_issuer_does_not_have_is_refused_however_often_it_comes() throws Exception {
        RSAKey unknown = new RSAKeyGenerator(2048).keyID("2").generate();
        SignedJWT jwt = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("2").build(), claims().build());
        jwt.sign(new RSASSASigner(unknown));
        for (int i = 0; i < 5; i++) {
            assertThat(status(jwt.serialize(), "orders.eu")).isEqualTo(401);
        }
        assertThat(status(signed(claims().build()), "orders.eu")).isEqualTo(200);
    }

    @Test
    void an_access_token_may_say_that_it_is_one_and_something_else_may_not_be_one() throws Exception {
        for (String type : List.of("at+jwt", "JWT", "dpop+jwt")) {
            SignedJWT jwt = new SignedJWT(
                    new JWSHeader.Builder(JWSAlgorithm.RS256)
                            .keyID("1")
                            .type(new JOSEObjectType(type))
                            .build(),
                    claims().build());
            jwt.sign(new RSASSASigner(key));
            assertThat(status(jwt.serialize(), "orders.eu")).as(type).isEqualTo(type.startsWith("dpop") ? 401 : 200);
        }
    }

    @Test
    void without_the_issuers_keys_nobody_is_told_that_his_token_is_bad() throws Exception {
        try (Api alone = Api.start(Api.options(Api.address(Cli.freshDatabase()))
                .withIssuer(new ServerOptions.Issuer(ISSUER, AUDIENCE, URI.create("http://127.0.0.1:1/keys"))))) {
            Api.Answer answer = alone.as(signed(claims().build())).get("/v1/topics/orders.eu");
            assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
            assertThat(answer.response().headers().firstValue("Retry-After")).isPresent();
        }
    }

    @Test
    void a_key_is_still_good() throws Exception {
        assertThat(api.get("/v1/topics").status()).isEqualTo(200);
    }
}
