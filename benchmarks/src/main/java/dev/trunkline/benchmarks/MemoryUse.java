package dev.trunkline.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a turn has needed, in megabytes.
 *
 * @param peakHeap of this process
 * @param resident what this process has at the end; 0 where the system does not tell
 * @param broker the most that the broker had, if there is one
 */
record MemoryUse(long peakHeap, long resident, long broker) {

    static final MemoryUse NONE = new MemoryUse(0, 0, 0);

    private static final long MEGABYTE = 1024 * 1024;
    private static final long KILOBYTES = 1024;

    /** From now on, what is used now is the peak. */
    static void reset() {
        pools().forEach(MemoryPoolMXBean::resetPeakUsage);
    }

    /** Until now. */
    static MemoryUse read(Stream<ProcessHandle> brokers) throws IOException {
        long broker = 0;
        for (ProcessHandle process : brokers.toList()) {
            broker += status(process, "VmHWM:");
        }
        return new MemoryUse(peak() / MEGABYTE, status(ProcessHandle.current(), "VmRSS:"), broker);
    }

    /** The most heap that this process has used, in bytes. */
    static long peak() {
        return pools().mapToLong(pool -> pool.getPeakUsage().getUsed()).sum();
    }

    MemoryUse max(MemoryUse other) {
        return new MemoryUse(
                Math.max(peakHeap, other.peakHeap), Math.max(resident, other.resident), Math.max(broker, other.broker));
    }

    private static Stream<MemoryPoolMXBean> pools() {
        return ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool.getType() == MemoryType.HEAP);
    }

    /** A line of kilobytes, in megabytes. */
    private static long status(ProcessHandle process, String name) throws IOException {
        Path status = Path.of("/proc", Long.toString(process.pid()), "status");
        if (!Files.exists(status)) {
            return 0;
        }
        return Files.readAllLines(status).stream()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / KILOBYTES)
                .sum();
    }
}
