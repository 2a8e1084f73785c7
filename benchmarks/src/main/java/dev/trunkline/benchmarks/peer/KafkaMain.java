package dev.trunkline.benchmarks.peer;

import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;

/** One Kafka broker, which is its own controller. */
final class KafkaMain {

    private KafkaMain() {}

    /** With a directory, and settings as {@code name=value} beside the defaults. */
    public static void main(String[] args) throws Exception {
        BrokerLife.live(() -> {
            int[] ports = BrokerLife.freePorts(2);
            Path directory = Path.of(args[0]);
            Properties properties = properties(directory, ports[0], ports[1]);
            for (int i = 1; i < args.length; i++) {
                String[] setting = args[i].split("=", 2);
                properties.setProperty(setting[0], setting[1]);
            }
            start(directory.resolve("server.properties"), properties);
            awaitReady(ports[0]);
            return ports[0];
        });
    }

    /** What must be said of a lone broker, and what lets groups begin at once. */
    private static Properties properties(Path directory, int port, int controllerPort) {
        Properties properties = new Properties();
        properties.setProperty("process.roles", "broker,controller");
        properties.setProperty("node.id", "1");
        properties.setProperty("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
        properties.setProperty("controller.listener.names", "CONTROLLER");
        properties.setProperty(
                "listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort);
        properties.setProperty("log.dirs", directory.resolve("data").toString());
        properties.setProperty("auto.create.topics.enable", "false");
        properties.setProperty("offsets.topic.replication.factor", "1");
        properties.setProperty("group.initial.rebalance.delay.ms", "0");
        return properties;
    }

    private static void start(Path file, Properties properties) throws Exception {
        try (Writer writer = Files.newBufferedWriter(file)) {
            properties.store(writer, null);
        }
        String[] format = {"format", "-t", Uuid.randomUuid().toString(), "-c", file.toString()};
        int exit = StorageTool.execute(format, System.err);
        if (exit != 0) {
            throw new IllegalStateException("formatting ended with " + exit);
        }
        Thread.ofPlatform().start(() -> kafka.Kafka.main(new String[] {file.toString()}));
    }

    private static void awaitReady(int port) throws Exception {
        try (Admin admin = Admin.create(Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:" + port))) {
            admin.describeCluster().nodes().get();
        }
    }
}
