package dev.trunkline.server.http;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.Trunkline;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.server.Address;
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
    private final String url;
    private final Optional<String> firstKey;
    private final HttpServer http;

    private Service(ServerOptions options) throws Exception {
        try {
            Address address;
            if (options.database().isPresent()) {
                address = options.database().get();
                this.description = address.toString();
            } else {
                EmbeddedPostgres postgres = EmbeddedPostgres.at(options.data()).start();
                closers.push(postgres::close);
                address = new Address(postgres.jdbcUrl(), postgres.user(), postgres.password(), "trunkline");
                this.description = postgres.toString();
            }
            Monitoring monitoring = new Monitoring();
            closers.push(monitoring::close);
            Trunkline trunkline =
                    address.installation().observer(monitoring.observer()).open();
            closers.push(trunkline::close);
            monitoring.watch(trunkline);
            Optional<HikariDataSource> source = options.guarded() ? Optional.of(source(address)) : Optional.empty();
            Optional<ApiKeys> keys = source.map(its -> new ApiKeys(its, address.schema()));
            Optional<Decisions> decisions = source.map(its -> new Decisions(its, address.schema()));
            this.firstKey = keys.isPresent() ? keys.get().createFirst().map(ApiKeys.CreatedKey::key) : Optional.empty();
            this.http = new HttpServer(trunkline, monitoring, keys, decisions, options);
            closers.push(http::close);
            http.start();
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
