package dev.trunkline.server.http;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.jwk.source.RateLimitReachedException;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.net.MalformedURLException;
import java.text.ParseException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows callers by JWTs of an issuer, whose keys are fetched. What one may is in the claim {@code trunkline}:
 * {@code {"verbs": ["PUBLISH"], "topics": "orders.*", "groups": "*"}}; without it, nothing.
 */
final class JwtGuard implements Guard {

    private static final Logger log = LoggerFactory.getLogger(JwtGuard.class);
    private static final String CLAIM = "trunkline";
    /** Whatever a token says it is signed with: only these, which need a private key. */
    private static final Set<JWSAlgorithm> ALGORITHMS =
            Set.of(JWSAlgorithm.RS256, JWSAlgorithm.PS256, JWSAlgorithm.ES256);

    /** In milliseconds: an issuer that is healthy may be slow. */
    private static final int PATIENCE = 5_000;

    private static final int MOST_BYTES = JWKSourceBuilder.DEFAULT_HTTP_SIZE_LIMIT;

    /** So long keys are good that can not be fetched again. */
    private static final Duration OUTAGE = Duration.ofHours(1);
    /** A plain one, and an access token as RFC 9068 has it; null: it does not say. */
    private static final JOSEObjectTypeVerifier<SecurityContext> TYPES =
            new DefaultJOSEObjectTypeVerifier<>(JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), null);

    private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();

    JwtGuard(ServerOptions.Issuer issuer) {
        JWKSource<SecurityContext> keys;
        try {
            keys = JWKSourceBuilder.create(
                            issuer.keys().toURL(), new DefaultResourceRetriever(PATIENCE, PATIENCE, MOST_BYTES))
                    .retrying(true)
                    .outageTolerant(OUTAGE.toMillis())
                    .build();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException("\"" + issuer.keys() + "\" is no address of keys", e);
        }
        processor.setJWSTypeVerifier(TYPES);
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(ALGORITHMS, keys));
        processor.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>(
                issuer.audience(),
                new JWTClaimsSet.Builder().issuer(issuer.name()).build(),
                Set.of("sub", "exp")));
    }

    /** Whether the keys could not be fetched when that was tried last. */
    private volatile boolean away;

    @Override
    public Optional<Caller> find(String token) {
        try {
            Caller caller = caller(processor.process(token, null));
            away = false;
            return Optional.of(caller);
        } catch (RateLimitReachedException e) {
            // They were fetched a moment ago, and the one that this token names was not among them.
            if (away) {
                throw new Problem(503, "the issuer's keys can not be fetched: try again");
            }
            return Optional.empty();
        } catch (KeySourceException e) {
            away = true;
            log.warn("the keys of JWTs can not be fetched: {}", e.getMessage());
            throw new Problem(503, "the issuer's keys can not be fetched: try again");
        } catch (ParseException | BadJOSEException | JOSEException e) {
            log.debug("a JWT is refused: {}", e.getMessage());
            return Optional.empty();
        }
    }

    private static Caller caller(JWTClaimsSet claims) throws ParseException {
        Map<String, Object> may = claims.getJSONObjectClaim(CLAIM);
        if (may == null) {
            return new Caller("jwt " + claims.getSubject(), Set.of(), "*", "*");
        }
        Set<Verb> verbs = EnumSet.noneOf(Verb.class);
        for (Object verb : may.get("verbs") instanceof List<?> list ? list : List.of()) {
            try {
                verbs.add(Verb.valueOf(String.valueOf(verb)));
            } catch (IllegalArgumentException e) {
                throw new ParseException("\"" + verb + "\" is no verb", 0);
            }
        }
        return new Caller("jwt " + claims.getSubject(), verbs, pattern(may, "topics"), pattern(may, "groups"));
    }

    /** What is not said is none, not all: a claim that is misspelt must not open anything. */
    private static String pattern(Map<String, Object> may, String name) throws ParseException {
        if (may.get(name) instanceof String pattern) {
            return pattern;
        }
        throw new ParseException("the claim says nothing of " + name, 0);
    }
}
