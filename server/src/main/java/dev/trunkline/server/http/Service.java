package dev.trunkline.server.http;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.server.Address;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** All that serves: a database of its own or a given one, an installation in it, and HTTP in front. */
public final class Service implements AutoCloseable {

    /** Who asks for something while the database is away is told so before he gives up, as Prometheus does after ten seconds. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final Deque<Runnable> closers = new ArrayDeque<>();
    private final String description;
    private final Optional<String> access;
    private final String url;
    private final Optional<String> firstKey;
    private final HttpServer http;

    private Service(ServerOptions options) throws Exception {
        try {
            Address address;
            if (options.database().isPresent()) {
                address = options.database().get();
                this.description = address.toString();
                this.access = Optional.empty();
            } else {
                EmbeddedPostgres postgres = EmbeddedPostgres.at(options.data()).start();
                closers.push(postgres::close);
                address = new Address(postgres.jdbcUrl(), postgres.user(), postgres.password(), options.schema());
                this.description = postgres.toString();
                this.access = Optional.of(
                        "TRUNKLINE_URL='%s' TRUNKLINE_USER=%s TRUNKLINE_SCHEMA=%s TRUNKLINE_PASSWORD=\"$(cat '%s')\""
                                .formatted(
                                        address.url(),
                                        address.user(),
                                        address.schema(),
                                        postgres.dataDirectory()
                                                .resolve("password")
                                                .toAbsolutePath()));
            }
            Monitoring monitoring = new Monitoring();
            closers.push(monitoring::close);
            Trunkline.Builder installation = address.installation().observer(monitoring.observer());
            if (options.directUrl().isPresent()) {
                installation.directUrl(reachable(options.directUrl().get(), address));
            }
            Trunkline trunkline = installation.open();
            closers.push(trunkline::close);
            monitoring.watch(trunkline);
            Optional<HikariDataSource> source = options.guarded() ? Optional.of(source(address)) : Optional.empty();
            Optional<ApiKeys> keys = source.map(its -> new ApiKeys(its::getConnection, address.schema()));
            Optional<Decisions> decisions = source.map(its -> new Decisions(its, address.schema()));
            this.http = new HttpServer(trunkline, monitoring, keys, decisions, options);
            closers.push(http::close);
            http.start();
            // Last of all: it is shown once, and a start that fails would show nothing.
            this.firstKey = keys.isPresent() ? keys.get().createFirst().map(ApiKeys.CreatedKey::key) : Optional.empty();
            String host = options.host();
            this.url = (options.tls().isPresent() ? "https" : "http") + "://"
                    + (host.contains(":") ? "[" + host + "]" : host) + ":" + http.port();
        } catch (Exception | Error e) {
            close();
            throw e;
        }
    }

    public static Service start(ServerOptions options) throws Exception {
        return new Service(options);
    }

    /** The other one is not asked for anything at the start: without this, nobody would be told that it does not answer. */
    private static String reachable(String directUrl, Address address) {
        Address direct = new Address(directUrl, address.user(), address.password(), address.schema());
        try {
            direct.connect().close();
        } catch (SQLException e) {
            throw new DatabaseUnavailableException(
                    "can not connect to " + direct + ": " + e.getMessage() + " Check --direct-url.", e);
        }
        return directUrl;
    }

    private HikariDataSource source(Address address) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("trunkline-keys");
        config.setJdbcUrl(address.url());
        config.setUsername(address.user());
        config.setPassword(address.password());
        config.setMaximumPoolSize(2);
        config.setConnectionTimeout(PATIENCE.toMillis());
        config.setValidationTimeout(PATIENCE.toMillis() / 2);
        config.addDataSourceProperty("socketTimeout", Long.toString(2 * PATIENCE.toSeconds()));
        HikariDataSource source = new HikariDataSource(config);
        closers.push(source::close);
        return source;
    }

    /** The key that was given because there was none. */
    public Optional<String> firstKey() {
        return firstKey;
    }

    /** What lets other commands reach a database of its own; its password stays where it is kept. */
    public Optional<String> access() {
        return access;
    }

    public String url() {
        return url;
    }

    List<Route> routes() {
        return http.routes();
    }

    @Override
    public void close() {
        while (!closers.isEmpty()) {
            closers.pop().run();
        }
    }

    @Override
    public String toString() {
        return description;
    }
}
