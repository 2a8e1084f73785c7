package dev.trunkline.faults;

import dev.trunkline.checker.Journal;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.EmbeddedPostgresBuilder;
import dev.trunkline.embedded.Shutdown;
import dev.trunkline.faults.Fault.Site;
import dev.trunkline.rig.FaultProxy;
import dev.trunkline.rig.TransactionPooler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** What a trial needs: a server, a line to it, and a crowd of processes. All of it goes when it is closed, whatever of it there is. */
final class Stage implements AutoCloseable {

    private static final String DATABASE = "trial";

    private static final int POOLED = 10;

    private final Deque<AutoCloseable> closers = new ArrayDeque<>();
    private final Thread atExit = new Thread(this::tearDown, "stage");
    private final Fault fault;
    private final int major;
    private final Path directory;
    private final Journal journal;
    private final @Nullable Disk disk;
    private final @Nullable Disk walDisk;
    private final @Nullable Island island;
    private final @Nullable Clocks clocks;
    private final @Nullable TransactionPooler pooler;
    private final @Nullable Pair pair;
    private final EmbeddedPostgres server;
    private final FaultProxy line;
    private final Address address;
    private final Crowd crowd;

    Stage(Fault fault, int major, Path directory, Random random) throws Exception {
        this.fault = fault;
        this.major = major;
        this.directory = directory;
        Runtime.getRuntime().addShutdownHook(atExit);
        try {
            this.journal = keep(Journal.create(directory, "trial"));
            this.disk = fault.site() == Site.DISK || fault.site() == Site.DISKS
                    ? keep(Disk.create(directory, "disk"))
                    : null;
            this.walDisk = fault.site() == Site.DISKS ? keep(Disk.create(directory, "wal")) : null;
            this.clocks = fault.site() == Site.CLOCKS ? Clocks.create(directory) : null;
            this.server = keep(start());
            if (walDisk != null) {
                moveWal(walDisk.path());
            }
            server.createDatabase(DATABASE);
            this.line = keep(new FaultProxy(server.port()));
            Address direct = new Address(server.jdbcUrl(DATABASE), server.user(), server.password());
            Workload.create(direct);
            this.island = fault.site() == Site.ISLAND ? keep(Island.create(server.port())) : null;
            this.pooler = fault.site() == Site.POOLER ? keep(pool()) : null;
            if (fault.site() == Site.STANDBY || fault.site() == Site.LATE_STANDBY) {
                FaultProxy aside = keep(new FaultProxy(server.port()));
                this.pair = keep(
                        new Pair(server, directory, this::builder, List.of(line, aside), fault.site() == Site.STANDBY));
                this.address = direct.by(aside.jdbcUrl(DATABASE));
            } else {
                this.pair = null;
                this.address = direct;
            }
            this.crowd = keep(new Crowd(way(direct), directory, random, fault.patience()));
            gather();
        } catch (Exception | Error e) {
            close();
            throw e;
        }
    }

    /** How the crowd reaches the server. */
    private Address way(Address direct) {
        if (pooler != null) {
            return direct.by(pooler.jdbcUrl(DATABASE) + "?prepareThreshold=0");
        }
        Address byLine = direct.by(line.jdbcUrl(DATABASE));
        return clocks == null ? byLine : byLine.patient();
    }

    private void gather() {
        for (int i = 0; i < (clocks == null ? 2 : 1); i++) {
            crowd.addPublisher(fault.habits());
            crowd.addConsumer();
        }
        if (island != null) {
            crowd.addConsumer(island.prefix(), island.address(address, DATABASE));
        }
        if (pooler != null) {
            crowd.addConsumer(List.of(), way(address).withDirect(line.jdbcUrl(DATABASE)));
        }
        if (clocks != null) {
            crowd.addPublisher(fault.habits(), clocks.processes().get(0).prefix());
            crowd.addConsumer(clocks.processes().get(1).prefix(), way(address));
        }
    }

    private <T extends AutoCloseable> T keep(T thing) {
        closers.push(thing);
        return thing;
    }

    private EmbeddedPostgres start() {
        if (disk == null) {
            return configured(EmbeddedPostgres.temporary()).start();
        }
        return builder(disk.path().resolve("data")).start();
    }

    private void moveWal(Path disk) throws IOException, InterruptedException {
        Path here = server.dataDirectory().resolve("cluster").resolve("pg_wal");
        Path there = disk.resolve("pg_wal");
        server.stop(Shutdown.FAST);
        Shell.run("cp", "-a", here.toString(), there.toString());
        Main.delete(here);
        Files.createSymbolicLink(here, there);
        server.start();
    }

    private EmbeddedPostgresBuilder builder(Path data) {
        return configured(EmbeddedPostgres.at(data));
    }

    private EmbeddedPostgresBuilder configured(EmbeddedPostgresBuilder plain) {
        EmbeddedPostgresBuilder builder = Versions.on(major, plain, directory).setting("track_commit_timestamp", "on");
        for (Map.Entry<String, String> setting : fault.settings().entrySet()) {
            builder = builder.setting(setting.getKey(), setting.getValue());
        }
        if (clocks != null) {
            for (Map.Entry<String, String> each : clocks.server().environment().entrySet()) {
                builder = builder.environment(each.getKey(), each.getValue());
            }
        }
        return builder;
    }

    /** The server trusts it, and whoever else is on this machine. */
    private TransactionPooler pool() throws IOException, SQLException {
        Files.writeString(
                server.dataDirectory().resolve("cluster").resolve("pg_hba.conf"), "host all all 127.0.0.1/32 trust\n");
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("select pg_reload_conf()");
        }
        return new TransactionPooler(server.port(), POOLED);
    }

    Journal journal() {
        return journal;
    }

    EmbeddedPostgres server() {
        return server;
    }

    FaultProxy line() {
        return line;
    }

    /** Where no fault of the line reaches. */
    Address address() {
        return address;
    }

    Crowd crowd() {
        return crowd;
    }

    Disk disk() {
        return Objects.requireNonNull(disk, "without a disk of its own");
    }

    Disk walDisk() {
        return Objects.requireNonNull(walDisk, "without a disk for WAL");
    }

    Island island() {
        return Objects.requireNonNull(island, "without an island");
    }

    TransactionPooler pooler() {
        return Objects.requireNonNull(pooler, "without a pooler");
    }

    Pair pair() {
        return Objects.requireNonNull(pair, "without a standby");
    }

    Clocks clocks() {
        return Objects.requireNonNull(clocks, "without clocks");
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            return; // the JVM is on its way out, and the hook does it
        }
        tearDown();
    }

    private void tearDown() {
        while (!closers.isEmpty()) {
            try {
                closers.pop().close();
            } catch (Exception e) {
                System.err.println("something was left behind: " + e);
            }
        }
    }
}
