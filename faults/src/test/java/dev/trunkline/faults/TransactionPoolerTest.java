package dev.trunkline.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.rig.TransactionPooler;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The pooler is one that breaks what poolers in transaction mode are known to break. */
@Timeout(120)
class TransactionPoolerTest {

    private static EmbeddedPostgres server;

    @BeforeAll
    static void start() throws Exception {
        server = EmbeddedPostgres.temporary().unsafeFast().start();
        Files.writeString(
                server.dataDirectory().resolve("cluster").resolve("pg_hba.conf"), "host all all 127.0.0.1/32 trust\n");
        try (Connection connection = server.dataSource().getConnection()) {
            query(connection, "select pg_reload_conf()");
        }
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Connection connect(TransactionPooler pooler) throws SQLException {
        return DriverManager.getConnection(
                pooler.jdbcUrl("postgres") + "?prepareThreshold=0", server.user(), server.password());
    }

    private static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void many_clients_share_one_connection() throws Exception {
        try (TransactionPooler pooler = new TransactionPooler(server.port(), 1)) {
            List<Connection> clients = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                clients.add(connect(pooler));
            }
            String pid = query(clients.getFirst(), "select pg_backend_pid()");
            for (Connection client : clients) {
                assertThat(query(client, "select pg_backend_pid()")).isEqualTo(pid);
                client.close();
            }
        }
    }

    @Test
    void what_a_session_has_set_is_seen_by_the_next_one() throws Exception {
        try (TransactionPooler pooler = new TransactionPooler(server.port(), 1);
                Connection one = connect(pooler);
                Connection other = connect(pooler)) {
            try (Statement statement = one.createStatement()) {
                statement.execute("set work_mem = '77MB'");
            }
            assertThat(query(other, "show work_mem")).isEqualTo("77MB");
        }
    }

    @Test
    void a_transaction_keeps_its_connection() throws Exception {
        try (TransactionPooler pooler = new TransactionPooler(server.port(), 2);
                Connection one = connect(pooler);
                Connection other = connect(pooler)) {
            one.setAutoCommit(false);
            String pid = query(one, "select pg_backend_pid()");
            for (int i = 0; i < 5; i++) {
                assertThat(query(other, "select pg_backend_pid()")).isNotEqualTo(pid);
                assertThat(query(one, "select pg_backend_pid()")).isEqualTo(pid);
            }
            one.commit();
        }
    }

    @Test
    void what_a_session_has_prepared_is_gone() throws Exception {
        try (TransactionPooler pooler = new TransactionPooler(server.port(), 1);
                Connection client = connect(pooler);
                Statement statement = client.createStatement()) {
            statement.execute("prepare one as select 1");
            statement.execute("execute one");
            pooler.swap();
            assertThatThrownBy(() -> statement.execute("execute one"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("26000"));
        }
    }

    /** Else half of a transaction would be carried out, by itself. */
    @Test
    void what_is_sent_in_a_transaction_goes_to_no_other_connection_when_that_is_cut() throws Exception {
        try (TransactionPooler pooler = new TransactionPooler(server.port(), 2);
                Connection direct = server.dataSource().getConnection();
                Statement look = direct.createStatement()) {
            look.execute("create table half (n int)");
            Random all = new Random() {
                private static final long serialVersionUID = 1L;

                @Override
                public boolean nextBoolean() {
                    return true;
                }
            };
            for (int i = 0; i < 200; i++) {
                try (Connection client = connect(pooler);
                        Statement insert = client.createStatement()) {
                    client.setAutoCommit(false);
                    insert.execute("insert into half values (1)");
                    Thread cut = Thread.ofPlatform().start(() -> pooler.cutSome(all));
                    assertThatThrownBy(() -> {
                                while (true) {
                                    insert.execute("insert into half values (2)");
                                }
                            })
                            .isInstanceOf(SQLException.class);
                    cut.join();
                }
            }
            assertThat(query(direct, "select count(*) from half")).isEqualTo("0");
        }
    }
}
