package dev.trunkline.benchmarks.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.trunkline.benchmarks.database.Address;
import dev.trunkline.benchmarks.peer.Design.Trait;
import dev.trunkline.embedded.EmbeddedPostgres;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every peer does what it is measured for. */
class PeersTest {

    private static final int MESSAGES = 300;
    private static final int KEYS = 7;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private static EmbeddedPostgres postgres;
    private static Address address;

    @BeforeAll
    static void start() {
        postgres = EmbeddedPostgres.temporary().start();
        address = new Address(postgres.jdbcUrl(), postgres.user(), postgres.password());
    }

    @AfterAll
    static void stop() {
        postgres.close();
    }

    static Stream<Design> designs() {
        return Design.ALL.stream();
    }

    @ParameterizedTest
    @MethodSource("designs")
    void every_group_handles_every_message_once(Design design) throws Exception {
        int groups = design.has(Trait.FAN_OUT) ? 3 : 1;
        try (Peer peer = design.open(address)) {
            for (int round = 0; round < 2; round++) {
                peer.clear(groups);
                List<ConcurrentLinkedQueue<Letter>> handled = new ArrayList<>();
                try (Member member = peer.join()) {
                    Sender some = member.sender();
                    Sender others = member.sender();
                    for (int group = 0; group < groups; group++) {
                        ConcurrentLinkedQueue<Letter> mine = new ConcurrentLinkedQueue<>();
                        handled.add(mine);
                        member.consume(group, mine::add);
                    }
                    send(some, 0, MESSAGES / 3, 1);
                    send(others, MESSAGES / 3, MESSAGES, 50);
                    await().atMost(PATIENCE)
                            .untilAsserted(() -> assertThat(handled)
                                    .allSatisfy(mine -> assertThat(mine).hasSize(MESSAGES)));
                }
                for (ConcurrentLinkedQueue<Letter> mine : handled) {
                    assertThat(mine.stream().map(PeersTest::number))
                            .containsExactlyInAnyOrderElementsOf(
                                    IntStream.range(0, MESSAGES).boxed().toList());
                    if (design.has(Trait.ORDER)) {
                        assertOrdered(mine);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("designs")
    void a_message_that_fails_is_tried_again_and_the_others_are_handled(Design design) throws Exception {
        try (Peer peer = design.open(address)) {
            peer.clear(1);
            AtomicBoolean failed = new AtomicBoolean();
            var handled = ConcurrentHashMap.<Integer>newKeySet();
            try (Member member = peer.join()) {
                Sender sender = member.sender();
                member.consume(0, letter -> {
                    if (number(letter) == 5 && failed.compareAndSet(false, true)) {
                        throw new IllegalStateException("fails once");
                    }
                    handled.add(number(letter));
                });
                send(sender, 0, 20, 20);
                await().atMost(PATIENCE).until(() -> handled.size() == 20);
            }
            assertThat(failed).isTrue();
        }
    }

    private static void send(Sender sender, int from, int to, int batch) throws Exception {
        for (int i = from; i < to; i += batch) {
            sender.send(
                    IntStream.range(i, i + batch).mapToObj(PeersTest::letter).toList());
        }
    }

    private static Letter letter(int number) {
        return new Letter(
                "key-" + number % KEYS, ByteBuffer.allocate(200).putInt(number).array());
    }

    private static int number(Letter letter) {
        return ByteBuffer.wrap(letter.payload()).getInt();
    }

    private static void assertOrdered(ConcurrentLinkedQueue<Letter> handled) {
        for (int key = 0; key < KEYS; key++) {
            String name = "key-" + key;
            assertThat(handled.stream()
                            .filter(letter -> letter.key().equals(name))
                            .map(PeersTest::number)
                            .toList())
                    .isSortedAccordingTo(Comparator.naturalOrder());
        }
    }
}
