package dev.trunkline.benchmarks;

import dev.trunkline.SubscriptionOptions;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.benchmarks.database.Query;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Groups of one Trunkline, all of which read one log. */
final class LogGroups implements ManyGroups {

    private static final String INSTALLATION = "fan_out";
    /** As by default. */
    private static final int CONNECTIONS = 8;

    private static final long SEGMENT_BYTES = 128 * 1024;

    private final Workbench bench;
    private final TimedReads reads;
    private final Installation installation;
    private final Connection looking;
    private final List<Got> groups = new ArrayList<>();

    /** A group, and the messages that it has got. */
    private record Got(CountedGroup group, Distinct messages) {}

    LogGroups(Workbench bench, int count, Duration kept) throws SQLException {
        this.bench = bench;
        bench.uninstall(INSTALLATION);
        this.reads = new TimedReads(bench.address(), CONNECTIONS);
        this.installation = bench.install(INSTALLATION, reads);
        installation.configure(TopicConfiguration.pubSub(Installation.TOPIC)
                .withRetention(kept)
                .withSegments(SEGMENT_BYTES, Duration.ofDays(1)));
        this.looking = bench.address().connect();
        for (int i = 0; i < count; i++) {
            Distinct messages = new Distinct();
            CountedGroup group = new CountedGroup(
                    installation.trunkline(), "group-" + i, delivery -> messages.add(delivery.message()));
            groups.add(new Got(group.start(SubscriptionOptions.fromBeginning()), messages));
        }
    }

    @Override
    public String schema() {
        return installation.schema();
    }

    @Override
    public long publish(int messages) {
        return installation.publisher().publishAll(Samples.keyed(messages)).size();
    }

    @Override
    public long handled() {
        return groups.stream().mapToLong(got -> got.group().handled()).sum();
    }

    @Override
    public void cleanUp() {
        installation.trunkline().upkeepNow();
    }

    @Override
    public long kept() throws SQLException {
        return Query.number(looking, installation.sql("kept"), Installation.TOPIC);
    }

    @Override
    public FetchTimes fetches() {
        return reads.times();
    }

    @Override
    public void end(long published) throws InterruptedException {
        for (Got got : groups) {
            got.group().await(published);
            got.group().closeAt(published);
            Tally.require("handled once", published, got.messages().count());
        }
    }

    @Override
    public void close() throws SQLException {
        looking.close();
        installation.close();
        reads.close();
        bench.uninstall(INSTALLATION);
    }
}
