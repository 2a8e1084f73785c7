package dev.trunkline.server.http;

import dev.trunkline.Trunkline;
import java.io.IOException;
import java.net.BindException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Executors;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Trunkline over HTTP. A request runs on a virtual thread; what it may is asked before anything of its body is read. */
public final class HttpServer implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HttpServer.class);
    static final String PROBLEM = "application/problem+json";
    private static final String BEARER = "bearer ";
    private static final Duration IDLE = Duration.ofSeconds(90);
    /** How long the headers of a request may take. */
    private static final Duration HEADERS = Duration.ofSeconds(30);

    private static final Duration STOP = Duration.ofSeconds(20);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);
    private static final int MOST_MESSAGES = 10_000;
    private static final int HEADER_BYTES = 16 * 1024;
    private static final int MOST_CONNECTIONS = 10_000;

    private final Server server;
    private final ServerConnector connector;
    private final Router router;
    private final PullRoutes pulls;
    private final Monitoring monitoring;
    private final Readers readers = new Readers();
    private final Optional<Guard> guard;
    private final Rates rates;
    private final OpenRequests open;
    /** Half of the memory. */
    private final Room room = new Room(Runtime.getRuntime().maxMemory() / 2);

    private final Optional<Decisions> decisions;
    private final long mostBytes;
    private volatile boolean stopping;

    /**
     * A server that does not listen yet.
     *
     * @param monitoring where requests are counted, and metrics are read
     * @param keys empty: whoever can reach it may do everything
     * @param decisions where it is noted who has decided what; empty: nobody knows who
     */
    HttpServer(
            Trunkline trunkline,
            Monitoring monitoring,
            Optional<ApiKeys> keys,
            Optional<Decisions> decisions,
            ServerOptions options) {
        this.monitoring = monitoring;
        Optional<Guard> jwt = options.issuer().map(JwtGuard::new);
        this.guard = keys.map(its -> jwt.map(its::or).orElse(its));
        this.decisions = decisions;
        this.rates = new Rates(options.requestsPerSecond(), System::nanoTime);
        this.open = new OpenRequests(options.openRequests());
        this.mostBytes = options.mostBytes();
        this.pulls = new PullRoutes(trunkline, LONGEST_WAIT, () -> stopping);
        this.router = new Router(routes(trunkline, keys));
        QueuedThreadPool threads = new QueuedThreadPool();
        threads.setName("trunkline-http");
        threads.setVirtualThreadsExecutor(Executors.newVirtualThreadPerTaskExecutor());
        // With a pool, callers got each other's answers after requests that are hardly HTTP; without one that was not
        // seen.
        this.server = new Server(threads, null, new ByteBufferPool.NonPooling());
        this.connector = connector(options);
        server.addConnector(connector);
        server.addBean(new NetworkConnectionLimit(MOST_CONNECTIONS, connector));
        server.addBean(new Dawdlers(connector, HEADERS, System::nanoTime));
        server.setHandler(new GracefulHandler(new RequestMeter(new Front(), monitoring)));
        server.setErrorHandler(this::refuseUnread);
        server.setStopTimeout(STOP.toMillis());
    }

    private ServerConnector connector(ServerOptions options) {
        HttpConfiguration configuration = new HttpConfiguration();
        configuration.setSendServerVersion(false);
        configuration.setUseInputDirectByteBuffers(false);
        configuration.setUseOutputDirectByteBuffers(false);
        configuration.setRequestHeaderSize(HEADER_BYTES);
        // Names are parts of paths, and may hold anything, if it is encoded.
        configuration.setUriCompliance(UriCompliance.from(EnumSet.of(
                UriCompliance.Violation.AMBIGUOUS_PATH_SEPARATOR,
                UriCompliance.Violation.AMBIGUOUS_PATH_ENCODING,
                UriCompliance.Violation.AMBIGUOUS_PATH_SEGMENT,
                UriCompliance.Violation.AMBIGUOUS_EMPTY_SEGMENT,
                UriCompliance.Violation.SUSPICIOUS_PATH_CHARACTERS)));
        HttpConnectionFactory http = new HttpConnectionFactory(configuration);
        ServerConnector made = options.tls()
                .map(tls ->
                        new ServerConnector(server, new SslConnectionFactory(context(tls), http.getProtocol()), http))
                .orElseGet(() -> new ServerConnector(server, http));
        made.setHost(options.host());
        made.setPort(options.port());
        made.setIdleTimeout(IDLE.toMillis());
        return made;
    }

    private static SslContextFactory.Server context(ServerOptions.Tls tls) {
        SslContextFactory.Server context = new SslContextFactory.Server();
        context.setKeyStorePath(tls.keystore().toString());
        context.setKeyStorePassword(tls.password());
        return context;
    }

    private List<Route> routes(Trunkline trunkline, Optional<ApiKeys> keys) {
        List<Route> routes = new ArrayList<>();
        routes.add(Route.open("GET", "/health", "tells whether the server lives", HttpServer::up)
                .answers(Route.OK, Status.class));
        Readiness readiness = new Readiness(() -> trunkline.topics().find(""), System::nanoTime);
        routes.add(Route.open("GET", "/ready", "tells whether it can serve: its database answers", exchange -> {
                    if (stopping) {
                        throw stops();
                    }
                    try {
                        readiness.require();
                    } catch (RuntimeException e) {
                        log.debug("not ready", e);
                        throw new Problem(503, "the database does not answer");
                    }
                    up(exchange);
                })
                .answers(Route.OK, Status.class));
        routes.add(monitoring.route());
        routes.addAll(new TopicRoutes(trunkline.topics()).all());
        routes.addAll(new MessageRoutes(trunkline.publisher(), trunkline.log(), MOST_MESSAGES, () -> stopping).all());
        routes.addAll(pulls.all());
        routes.addAll(new GroupRoutes(trunkline).all());
        routes.addAll(new DeadLetterRoutes(trunkline).all());
        keys.ifPresent(known -> routes.addAll(new KeyRoutes(known).all()));
        decisions.ifPresent(known -> routes.add(known.route()));
        List<Route> told = List.copyOf(routes);
        byte[] document = Json.MAPPER.writeValueAsBytes(OpenApi.of(told));
        routes.add(Route.open(
                "GET",
                "/openapi.json",
                "tells what can be asked",
                exchange -> exchange.answer(Route.OK, Exchange.JSON, document)));
        return routes;
    }

    record Status(String status) {}

    static Problem stops() {
        return new Problem(503, "the server stops: ask another one, or later");
    }

    private static void up(Exchange exchange) throws IOException {
        exchange.answer(Route.OK, new Status("UP"));
    }

    List<Route> routes() {
        return router.routes();
    }

    HttpServer start() throws Exception {
        try {
            server.start();
        } catch (IOException e) {
            String where = "can not listen at " + connector.getHost() + ":" + connector.getPort() + ": ";
            throw e.getCause() instanceof BindException taken
                    ? new IOException(where + taken.getMessage() + ". Choose another --port, 0 for a free one.", e)
                    : new IOException(where + e.getMessage() + ". Look at --tls-keystore and its password.", e);
        }
        return this;
    }

    int port() {
        return connector.getLocalPort();
    }

    /** Lets requests end, streams at once, others within some seconds. */
    @Override
    public void close() {
        stopping = true;
        pulls.close();
        try {
            server.stop();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            log.warn("the server did not stop in order", e);
        }
    }

    /** Where every request comes in. */
    private final class Front extends Handler.Abstract {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            Room.Share share = room.new Share();
            Exchange exchange = new Exchange(request, response, mostBytes, share);
            try (share) {
                secure(response);
                serve(exchange);
                callback.succeeded();
            } catch (Exception e) {
                refuse(request, exchange, e, callback);
            }
            return true;
        }
    }

    private void serve(Exchange exchange) throws Exception {
        if (guard.isEmpty()) {
            Neighbours.require(exchange);
        }
        Router.Found found = router.find(exchange.method(), exchange.rawPath());
        Route route = found.route();
        exchange.found(found);
        if (route.verb().isEmpty()) {
            exchange.requireKnown(route.query());
            route.action().on(exchange);
            return;
        }
        Verb verb = route.verb().get();
        Caller caller = monitoring.isOf(route)
                ? readers.authorize(exchange, () -> authorize(exchange, verb))
                : authorize(exchange, verb);
        exchange.allow(caller, () -> caller(exchange).may(verb, exchange));
        open.begin(caller.name());
        try {
            serve(exchange, route, verb, caller);
        } finally {
            open.end(caller.name());
        }
    }

    private void serve(Exchange exchange, Route route, Verb verb, Caller caller) throws Exception {
        exchange.requireKnown(route.query());
        exchange.requireNames();
        if (decisions.isPresent() && verb == Verb.ADMIN && !route.method().equals("GET")) {
            decisions.get().carryOut(exchange, caller, route);
        } else {
            route.action().on(exchange);
        }
    }

    /** Who may do nothing of the kind at all is told no more than that. */
    private Caller authorize(Exchange exchange, Verb verb) throws SQLException {
        Caller caller = caller(exchange);
        if (!rates.allow(caller.name())) {
            throw new Problem(
                    429, "more requests in a second than this server allows: send several messages with each");
        }
        if (!caller.may(verb, exchange)) {
            throw new Problem(403, "this key does not allow to " + verb.name().toLowerCase(Locale.ROOT) + " here");
        }
        return caller;
    }

    private Caller caller(Exchange exchange) throws SQLException {
        if (guard.isEmpty()) {
            return Caller.ANYBODY;
        }
        String header = exchange.single("Authorization").orElse("");
        if (!header.toLowerCase(Locale.ROOT).startsWith(BEARER)) {
            throw unknown("say who you are: Authorization: Bearer KEY");
        }
        return guard.get()
                .find(header.substring(BEARER.length()).strip())
                .orElseThrow(() -> unknown("this key is not known, or not good any more"));
    }

    private static Problem unknown(String why) {
        return new Problem(401, why).with("field", "Authorization");
    }

    private static void secure(Response response) {
        response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        response.getHeaders().put("X-Content-Type-Options", "nosniff");
    }

    private static void refuse(Request request, Exchange exchange, Exception e, Callback callback) {
        Problem problem = Problem.of(e).orElse(null);
        if (problem == null) {
            if (exchange.isAnswered()) {
                log.debug(
                        "{} {}: the caller has gone",
                        request.getMethod(),
                        request.getHttpURI().getPath(),
                        e);
            } else {
                log.error(
                        "{} {} failed",
                        request.getMethod(),
                        request.getHttpURI().getPath(),
                        e);
            }
            problem = new Problem(500, "this is a mistake of the server: its log says more");
        }
        if (exchange.isAnswered()) {
            callback.failed(e);
            return;
        }
        try {
            exchange.discardBody();
            tell(exchange, problem);
            callback.succeeded();
        } catch (IOException gone) {
            callback.failed(gone);
        }
    }

    private static void tell(Exchange exchange, Problem problem) throws IOException {
        switch (problem.status()) {
            case 401 -> exchange.header(HttpHeader.WWW_AUTHENTICATE, "Bearer");
            case 405 -> exchange.header(HttpHeader.ALLOW, problem.allowed());
            case 429, 503 -> exchange.header(HttpHeader.RETRY_AFTER, "1");
            default -> {}
        }
        exchange.answer(problem.status(), PROBLEM, Json.MAPPER.writeValueAsBytes(problem.document()));
    }

    /** What the library refuses: what could not even be read as a request, or comes while the server stops. */
    private boolean refuseUnread(Request request, Response response, Callback callback) {
        int status = response.getStatus() < 400 ? 400 : response.getStatus();
        Problem problem = switch (status) {
            case 408 -> new Problem(status, "the request did not come in time");
            case 414 -> new Problem(status, "the address is too long: it has 16 KiB with the headers");
            case 417 -> new Problem(status, "nothing but 100-continue can be expected");
            case 431 -> new Problem(status, "the headers are longer than " + HEADER_BYTES + " bytes");
            case 503 -> stops();
            // The library's word for what no HTTP/1.1 is: it is not the server that has failed.
            case 501, 505 -> Problem.badRequest("the request can not be read: this server speaks HTTP/1.1");
            default ->
                new Problem(
                        status,
                        status < 500
                                ? "the request can not be read"
                                : "this is a mistake of the server: its log says more");
        };
        Exchange exchange = new Exchange(request, response, mostBytes, room.new Share());
        try {
            secure(response);
            exchange.header(HttpHeader.CONNECTION, "close");
            tell(exchange, problem);
            callback.succeeded();
        } catch (IOException gone) {
            callback.failed(gone);
        }
        return true;
    }
}
