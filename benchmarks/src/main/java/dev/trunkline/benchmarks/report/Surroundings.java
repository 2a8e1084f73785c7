package dev.trunkline.benchmarks.report;

import com.sun.management.OperatingSystemMXBean;
import dev.trunkline.benchmarks.database.Query;
import dev.trunkline.benchmarks.database.Sql;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/** What the benchmarks run on and with; nothing that says whose machine it is. */
public final class Surroundings {

    private static final Sql SQL = Sql.beside(Surroundings.class, "report.sql");
    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");
    private static final double GIBIBYTE = 1 << 30;

    private Surroundings() {}

    /** As seen from here and through this connection, to a server that is {@code ours} or was given. */
    public static Run.Where seen(Connection connection, boolean ours, int payloadBytes)
            throws SQLException, IOException {
        return new Run.Where(machine(ours), versions(connection), settings(connection), payloadBytes);
    }

    private static Map<String, String> machine(boolean ours) throws IOException {
        Map<String, String> machine = new LinkedHashMap<>();
        machine.put("CPU", processor());
        machine.put("cores", String.valueOf(Runtime.getRuntime().availableProcessors()));
        var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        machine.put("memory", Words.number(system.getTotalMemorySize() / GIBIBYTE) + " GiB");
        machine.put("system", system.getName() + " " + system.getVersion() + ", " + system.getArch());
        machine.put("PostgreSQL", ours ? "temporary, on this machine, on " + fileSystem() : "given with --url");
        return machine;
    }

    private static String processor() throws IOException {
        if (!Files.isReadable(PROCESSORS)) {
            return "unknown";
        }
        try (Stream<String> lines = Files.lines(PROCESSORS)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown");
        }
    }

    /** That of temporary files, where a PostgreSQL of ours has its data. */
    private static String fileSystem() throws IOException {
        return Files.getFileStore(Path.of(System.getProperty("java.io.tmpdir"))).type();
    }

    private static Map<String, String> versions(Connection connection) throws SQLException, IOException {
        Map<String, String> versions = new LinkedHashMap<>();
        versions.put("Java", Runtime.version() + ", " + System.getProperty("java.vm.name"));
        versions.put(
                "PostgreSQL", Query.texts(connection, SQL.get("serverVersion")).getFirst());
        versions.put("PostgreSQL JDBC driver", connection.getMetaData().getDriverVersion());
        versions.putAll(Library.versions());
        return versions;
    }

    private static Map<String, String> settings(Connection connection) throws SQLException {
        Map<String, String> settings = new LinkedHashMap<>();
        for (String setting : Query.texts(connection, SQL.get("settings"))) {
            int equals = setting.indexOf('=');
            settings.put(setting.substring(0, equals), setting.substring(equals + 1));
        }
        return settings;
    }
}
