package dev.trunkline.faults;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** All faults, by their numbers. */
final class Catalogue {

    private Catalogue() {}

    static List<Fault> all() {
        return Stream.of(
                        ProcessFaults.all(),
                        ServerFaults.all(),
                        DiskFaults.all(),
                        PublisherFaults.all(),
                        UpkeepFaults.all(),
                        LineFaults.all(),
                        PoisonFaults.all(),
                        GroupFaults.all(),
                        NeighbourFaults.all(),
                        StartFaults.all(),
                        InputFaults.all(),
                        PoolerFaults.all(),
                        FailoverFaults.all(),
                        ClockFaults.all(),
                        UpgradeFaults.all(),
                        PageFaults.all())
                .flatMap(List::stream)
                .sorted(Comparator.comparingInt(
                        fault -> Integer.parseInt(fault.id().replaceAll("\\D", ""))))
                .toList();
    }

    static Optional<Fault> find(String id) {
        return all().stream().filter(fault -> fault.id().equalsIgnoreCase(id)).findFirst();
    }
}
