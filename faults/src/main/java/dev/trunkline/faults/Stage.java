package dev.trunkline.faults;

import dev.trunkline.checker.Journal;
import dev.trunkline.embedded.EmbeddedPostgres;
import dev.trunkline.embedded.EmbeddedPostgresBuilder;
import dev.trunkline.faults.Fault.Site;
import dev.trunkline.rig.FaultProxy;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** What a trial needs: a server, a line to it, and a crowd of processes. All of it goes when it is closed, whatever of it there is. */
final class Stage implements AutoCloseable {

    private static final String DATABASE = "trial";

    private final Deque<AutoCloseable> closers = new ArrayDeque<>();
    private final Thread atExit = new Thread(this::tearDown, "stage");
    private final Journal journal;
    private final @Nullable Disk disk;
    private final @Nullable Island island;
    private final EmbeddedPostgres server;
    private final FaultProxy line;
    private final Address address;
    private final Crowd crowd;

    Stage(Fault fault, Path journals, Random random) throws Exception {
        Runtime.getRuntime().addShutdownHook(atExit);
        try {
            this.journal = keep(Journal.create(journals, "trial"));
            this.disk = fault.site() == Site.DISK ? keep(Disk.create(journals)) : null;
            this.server = keep(start(fault));
            server.createDatabase(DATABASE);
            this.line = keep(new FaultProxy(server.port()));
            this.address = new Address(server.jdbcUrl(DATABASE), server.user(), server.password());
            Workload.create(address);
            this.island = fault.site() == Site.ISLAND ? keep(Island.create(server.port())) : null;
            Address byLine = new Address(line.jdbcUrl(DATABASE), server.user(), server.password());
            this.crowd = keep(new Crowd(byLine, journals, random, fault.patience()));
            for (int i = 0; i < 2; i++) {
                crowd.addPublisher(fault.habits());
                crowd.addConsumer();
            }
            if (island != null) {
                crowd.addConsumer(island.prefix(), island.address(address, DATABASE));
            }
        } catch (Exception | Error e) {
            close();
            throw e;
        }
    }

    private <T extends AutoCloseable> T keep(T thing) {
        closers.push(thing);
        return thing;
    }

    private EmbeddedPostgres start(Fault fault) {
        EmbeddedPostgresBuilder builder = disk == null
                ? EmbeddedPostgres.temporary()
                : EmbeddedPostgres.at(disk.path().resolve("data"));
        builder = builder.setting("track_commit_timestamp", "on");
        for (Map.Entry<String, String> setting : fault.settings().entrySet()) {
            builder = builder.setting(setting.getKey(), setting.getValue());
        }
        return builder.start();
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

    Island island() {
        return Objects.requireNonNull(island, "without an island");
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
