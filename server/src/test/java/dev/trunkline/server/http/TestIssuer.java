package dev.trunkline.server.http;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Date;
import java.util.Map;

/** Gives JWTs, and tells its keys. */
final class TestIssuer implements AutoCloseable {

    private static final String NAME = "https://issuer.example";
    private static final String AUDIENCE = "trunkline";

    private final RSAKey key;
    private final HttpServer server;

    TestIssuer() throws Exception {
        key = new RSAKeyGenerator(2048).keyID("1").generate();
        byte[] keys = new JWKSet(key).toString().getBytes(StandardCharsets.UTF_8);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/keys", exchange -> {
            exchange.sendResponseHeaders(200, keys.length);
            exchange.getResponseBody().write(keys);
            exchange.close();
        });
        server.start();
    }

    ServerOptions.Issuer options() {
        URI at = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/keys");
        return new ServerOptions.Issuer(NAME, AUDIENCE, at);
    }

    /** @param may what its claim says */
    String token(Map<String, Object> may) throws Exception {
        SignedJWT jwt = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("1").build(),
                new JWTClaimsSet.Builder()
                        .issuer(NAME)
                        .audience(AUDIENCE)
                        .subject("shop")
                        .expirationTime(Date.from(Instant.now().plusSeconds(600)))
                        .claim("trunkline", may)
                        .build());
        jwt.sign(new RSASSASigner(key));
        return jwt.serialize();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
