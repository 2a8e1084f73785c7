package dev.trunkline.benchmarks;

import java.util.List;
import java.util.Optional;

/** One question, its baseline and its target. */
interface Scenario {

    List<Scenario> ALL = List.of(
            new PublishBatch(),
            new PublishSingle(),
            new PublishTransactional(),
            new RelayBacklog(),
            new ConsumeDrain(),
            EndToEnd.againstQueues(),
            EndToEnd.againstAll(),
            new PeersFanOut(),
            new PeersLatency(),
            new PeersLateCommit(),
            new PeersPoisonKey(),
            new PeersHeldTransaction(),
            new BacklogSize(),
            new Groups(),
            new Partitions(),
            new Payload(),
            new Processes(),
            new OrderedParallel(),
            new Latency(),
            new LatencyLoaded(),
            new WriteAmplification(),
            new FanOut(),
            new LateJoin(),
            new CatchUpVsOltp(),
            new SegmentDrop(),
            new Retention(),
            new KillAndResurrect(),
            new HeldTransaction(),
            new Memory(),
            new MemoryDrain(),
            new HttpPublish(),
            new HttpDrain());

    String name();

    /** What it compares, in one line. */
    String summary();

    List<Result> run(Workbench bench) throws Exception;

    static Optional<Scenario> find(String name) {
        return ALL.stream().filter(scenario -> scenario.name().equals(name)).findFirst();
    }
}
