package dev.trunkline.server;

import dev.trunkline.server.http.ServerOptions;
import dev.trunkline.server.http.Service;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code trunkline serve}. */
@Command(
        name = "serve",
        description = {
            "Serve Trunkline over HTTP until Ctrl-C.",
            "Without --url, on a PostgreSQL of its own, whose data stays in --data."
        })
final class ServeCommand implements Callable<Integer> {

    private static final Logger log = LoggerFactory.getLogger(ServeCommand.class);

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Option(
            names = "--direct-url",
            paramLabel = "JDBC",
            defaultValue = "${env:TRUNKLINE_DIRECT_URL}",
            description = {
                "Where --url leads through a pooler in transaction mode: the database without it, for what listens and for signs of life.",
                "Or TRUNKLINE_DIRECT_URL."
            })
    @Nullable
    String directUrl;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            defaultValue = "${env:TRUNKLINE_DATA:-trunkline-data}",
            description = "Where a PostgreSQL of its own keeps its data: trunkline-data by default. Or TRUNKLINE_DATA.")
    Path data = Path.of("trunkline-data");

    @Option(
            names = "--host",
            defaultValue = "${env:TRUNKLINE_HOST:-127.0.0.1}",
            description = "The address to listen at: 127.0.0.1 by default. Or TRUNKLINE_HOST.")
    String host = "127.0.0.1";

    @Option(
            names = "--port",
            defaultValue = "${env:TRUNKLINE_PORT:-8787}",
            description = "The port: 8787 by default, 0 for a free one. Or TRUNKLINE_PORT.")
    int port;

    // The fallback: a flag that the environment has set already would be taken for its opposite.
    @Option(
            names = "--no-auth",
            defaultValue = "${env:TRUNKLINE_NO_AUTH:-false}",
            fallbackValue = "true",
            description = "Ask nobody for a key. Only at a loopback address. Or TRUNKLINE_NO_AUTH=true.")
    boolean open;

    @Option(
            names = "--behind-tls-proxy",
            defaultValue = "${env:TRUNKLINE_BEHIND_TLS_PROXY:-false}",
            fallbackValue = "true",
            description = {
                "At another than a loopback address: something in front of it speaks TLS.",
                "Or TRUNKLINE_BEHIND_TLS_PROXY=true."
            })
    boolean behindProxy;

    @Option(
            names = "--max-body-bytes",
            paramLabel = "N",
            defaultValue = "${env:TRUNKLINE_MAX_BODY_BYTES:-1048576}",
            description = "The longest body of a request, but for streams: 1048576 by default.")
    long mostBytes;

    @Option(
            names = "--max-requests-per-second",
            paramLabel = "N",
            defaultValue = "${env:TRUNKLINE_MAX_REQUESTS_PER_SECOND:-10000}",
            description = "How many requests of one caller are answered in a second: 10000 by default.")
    int requestsPerSecond;

    @Option(
            names = "--max-open-requests",
            paramLabel = "N",
            defaultValue = "${env:TRUNKLINE_MAX_OPEN_REQUESTS:-2000}",
            description =
                    "How many requests of one caller are open at a time, those that wait and streams too: 2000 by default.")
    int openRequests;

    @Option(
            names = "--tls-keystore",
            paramLabel = "FILE",
            defaultValue = "${env:TRUNKLINE_TLS_KEYSTORE}",
            description = "Speak TLS, with the key and certificate of this PKCS #12 file.")
    @Nullable
    Path keystore;

    @Option(
            names = "--tls-password",
            paramLabel = "PASSWORD",
            defaultValue = "${env:TRUNKLINE_TLS_PASSWORD}",
            description = "The file's password. Better in TRUNKLINE_TLS_PASSWORD, where nobody else sees it.")
    @Nullable
    String keystorePassword;

    @Option(
            names = "--jwt-issuer",
            paramLabel = "NAME",
            defaultValue = "${env:TRUNKLINE_JWT_ISSUER}",
            description = "Take JWTs of this issuer too; with --jwt-audience and --jwt-keys.")
    @Nullable
    String jwtIssuer;

    @Option(
            names = "--jwt-audience",
            paramLabel = "NAME",
            defaultValue = "${env:TRUNKLINE_JWT_AUDIENCE}",
            description = "Whom JWTs must be for.")
    @Nullable
    String jwtAudience;

    @Option(
            names = "--jwt-keys",
            paramLabel = "URL",
            defaultValue = "${env:TRUNKLINE_JWT_KEYS}",
            description = "Where the issuer's keys are, as a JSON Web Key Set.")
    @Nullable
    URI jwtKeys;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            defaultValue = "${env:TRUNKLINE_CONFIG}",
            description = {
                "A YAML file with any of these options by name, such as port: 8787.",
                "What is given here, or in the environment, wins."
            })
    @Nullable
    Path config;

    @Option(names = "--json", description = "Print where it listens, and the first key, as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        if (config != null) {
            ConfigFile.apply(command, config);
        }
        requireSafe();
        PrintWriter out = command.commandLine().getOut();
        CountDownLatch stop = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        Thread hook = new Thread(
                () -> {
                    stop.countDown();
                    awaitQuietly(stopped);
                },
                "trunkline-serve");
        Runtime.getRuntime().addShutdownHook(hook);
        try (Service service = start()) {
            log.info("on {}, listens at {}", service, service.url());
            if (json) {
                out.println(Output.json(fields(service)));
            } else {
                print(service, out);
            }
            out.flush();
            stop.await();
            log.info("stops");
        } finally {
            log.info("stopped");
            stopped.countDown();
        }
        return 0;
    }

    private static Map<String, String> fields(Service service) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("url", service.url());
        fields.put("database", service.toString());
        service.firstKey().ifPresent(key -> fields.put("firstKey", key));
        service.access().ifPresent(access -> fields.put("access", access));
        return fields;
    }

    private static void print(Service service, PrintWriter out) {
        service.firstKey().ifPresent(key -> {
            out.println("The first key, which may do everything. It is shown once:");
            out.println("  " + key);
        });
        out.println("Trunkline on " + service + " listens at " + service.url());
        service.access()
                .ifPresent(access -> out.println("Look at it with other commands: " + access + " ./trunkline doctor"));
    }

    private Service start() throws Exception {
        return Service.start(new ServerOptions(
                given(),
                isGiven(directUrl) ? Optional.ofNullable(directUrl) : Optional.empty(),
                data,
                database.schema,
                host,
                port,
                mostBytes,
                requestsPerSecond,
                openRequests,
                !open,
                issuer(),
                tls()));
    }

    /** Empty: it has a database of its own. */
    private Optional<Address> given() {
        if (isGiven(database.url)) {
            return Optional.of(database.address());
        }
        if (isGiven(database.user) || isGiven(database.password) || isGiven(directUrl)) {
            throw wrong("without --url it has a PostgreSQL of its own, for which --user, --password and --direct-url"
                    + " mean nothing: give --url, or leave them out (TRUNKLINE_USER and the like too)");
        }
        return Optional.empty();
    }

    private Optional<ServerOptions.Issuer> issuer() {
        if (jwtIssuer == null && jwtAudience == null && jwtKeys == null) {
            return Optional.empty();
        }
        if (jwtIssuer == null || jwtAudience == null || jwtKeys == null) {
            throw wrong("--jwt-issuer, --jwt-audience and --jwt-keys go together");
        }
        if (open) {
            throw wrong("--no-auth asks nobody for anything, --jwt-issuer asks for tokens: use one of them");
        }
        String scheme = String.valueOf(jwtKeys.getScheme());
        if (!scheme.equals("https") && !(scheme.equals("http") && isLoopback(jwtKeys.getHost()))) {
            throw wrong("--jwt-keys " + jwtKeys + " could be changed on its way: use https");
        }
        return Optional.of(new ServerOptions.Issuer(jwtIssuer, jwtAudience, jwtKeys));
    }

    private Optional<ServerOptions.Tls> tls() {
        if (keystore == null) {
            return Optional.empty();
        }
        if (!Files.isReadable(keystore)) {
            throw wrong("--tls-keystore " + keystore + " can not be read");
        }
        return Optional.of(new ServerOptions.Tls(keystore, keystorePassword == null ? "" : keystorePassword));
    }

    private static boolean isGiven(@Nullable String text) {
        return text != null && !text.isBlank();
    }

    private ParameterException wrong(String what) {
        return new ParameterException(command.commandLine(), what);
    }

    private static boolean isLoopback(@Nullable String host) {
        try {
            return host != null && InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private void requireSafe() {
        if (port < 0 || port > 65_535) {
            throw wrong("--port is " + port + ": use 0 to 65535");
        }
        if (mostBytes < 1) {
            throw wrong("--max-body-bytes is " + mostBytes + ": use more");
        }
        if (requestsPerSecond < 1) {
            throw wrong("--max-requests-per-second is " + requestsPerSecond + ": use more");
        }
        if (openRequests < 1) {
            throw wrong("--max-open-requests is " + openRequests + ": use more");
        }
        try {
            if (InetAddress.getByName(host).isLoopbackAddress()) {
                return;
            }
        } catch (UnknownHostException e) {
            throw wrong("--host " + host + " is no address of this machine");
        }
        if (open) {
            throw wrong("--no-auth at " + host + " would let everybody in: use a loopback address");
        }
        if (!behindProxy && keystore == null) {
            throw wrong("keys would be sent in the clear to " + host
                    + ": use --tls-keystore, or put a proxy with TLS in front and say --behind-tls-proxy");
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
