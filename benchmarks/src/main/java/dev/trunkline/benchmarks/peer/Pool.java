package dev.trunkline.benchmarks.peer;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.trunkline.benchmarks.database.Address;

/** Connections for a library that takes a pool: enough for every thread of its own and of any scenario to have one. */
final class Pool {

    private static final int CONNECTIONS = 48;

    private Pool() {}

    static HikariDataSource open(Address address) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(address.url());
        config.setUsername(address.user());
        config.setPassword(address.password());
        config.setMaximumPoolSize(CONNECTIONS);
        config.setMinimumIdle(1);
        // Both libraries publish a batch as a JDBC batch.
        config.addDataSourceProperty("reWriteBatchedInserts", "true");
        return new HikariDataSource(config);
    }
}
