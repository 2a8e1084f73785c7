package dev.trunkline.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.stream.Stream;

/** The heap of this process. */
final class Heap {

    private Heap() {}

    /** From now on, what is used now is the peak. */
    static void reset() {
        pools().forEach(MemoryPoolMXBean::resetPeakUsage);
    }

    /** The most that was used, in bytes. */
    static long peak() {
        return pools().mapToLong(pool -> pool.getPeakUsage().getUsed()).sum();
    }

    private static Stream<MemoryPoolMXBean> pools() {
        return ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool.getType() == MemoryType.HEAP);
    }
}
