package dev.trunkline.benchmarks.peer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/** One Artemis broker, with a journal that is synced. */
final class ArtemisMain {

    private static final int BLOCK = 4096;
    private static final int BLOCKS = 250;
    private static final int ROUNDS = 4;

    private ArtemisMain() {}

    /** With a directory. */
    public static void main(String[] args) throws Exception {
        BrokerLife.live(() -> {
            int port = BrokerLife.freePorts(1)[0];
            new EmbeddedActiveMQ()
                    .setConfiguration(configuration(Path.of(args[0]), port))
                    .start();
            return port;
        });
    }

    private static Configuration configuration(Path directory, int port) throws Exception {
        return new ConfigurationImpl()
                .setPersistenceEnabled(true)
                .setJournalType(JournalType.NIO)
                .setJournalSyncTransactional(true)
                .setJournalSyncNonTransactional(true)
                .setJournalBufferTimeout_NIO(syncNanos(directory.resolve("probe")))
                .setJournalDirectory(directory.resolve("journal").toString())
                .setBindingsDirectory(directory.resolve("bindings").toString())
                .setPagingDirectory(directory.resolve("paging").toString())
                .setLargeMessagesDirectory(directory.resolve("large").toString())
                .setSecurityEnabled(false)
                .setJMXManagementEnabled(false)
                // Otherwise it holds up those who send, without a word, while the disk is nearly full.
                .setMaxDiskUsage(-1)
                .addAcceptorConfiguration("tcp", "tcp://127.0.0.1:" + port + "?protocols=CORE");
    }

    /**
     * How long this disk takes to sync a block. The journal gathers what comes within that time: {@code artemis create} sets it so, and the
     * default of a broker in a program is made for slow disks.
     */
    private static int syncNanos(Path file) throws IOException {
        long fastest = Integer.MAX_VALUE;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (int round = 0; round < ROUNDS; round++) { // the first makes the file as long as it gets
                channel.position(0);
                long began = System.nanoTime();
                for (int block = 0; block < BLOCKS; block++) {
                    channel.write(ByteBuffer.allocate(BLOCK));
                    channel.force(false);
                }
                fastest = Math.min(fastest, (System.nanoTime() - began) / BLOCKS);
            }
        }
        return (int) fastest;
    }
}
