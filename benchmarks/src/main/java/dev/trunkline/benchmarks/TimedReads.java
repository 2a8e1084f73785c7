package dev.trunkline.benchmarks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.benchmarks.database.Address;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A pool like the one that Trunkline makes for itself, which knows how long each statement took that read a segment. */
final class TimedReads extends HikariDataSource {

    private static final Pattern READ = Pattern.compile("\\bfrom \\w+\\.segment_\\d+ ");

    private final FetchTimes times;

    TimedReads(Address address, int size) throws SQLException {
        super(config(address, size));
        this.times = new FetchTimes(address);
    }

    private static HikariConfig config(Address address, int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(address.url());
        config.setUsername(address.user());
        config.setPassword(address.password());
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(1);
        config.addDataSourceProperty("ApplicationName", "trunkline");
        return config;
    }

    FetchTimes times() {
        return times;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        return proxy(Connection.class, (proxy, method, arguments) -> {
            Object result = call(connection, method, arguments);
            return result instanceof PreparedStatement statement
                            && READ.matcher((String) arguments[0]).find()
                    ? timed(statement)
                    : result;
        });
    }

    private PreparedStatement timed(PreparedStatement statement) {
        return proxy(PreparedStatement.class, (proxy, method, arguments) -> {
            return method.getName().equals("executeQuery")
                    ? times.executeQuery(statement)
                    : call(statement, method, arguments);
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
