package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.server.Address;
import dev.trunkline.server.Cli;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What those can do who have no key, as often as they like. */
@Timeout(120)
class StrangersTest {

    private static String unknown(char letter) {
        return "tl_" + String.valueOf(letter).repeat(43);
    }

    @Test
    void the_database_is_asked_for_one_of_them_at_a_time_and_meanwhile_for_those_who_are_known() throws Exception {
        Address address = Api.address(Cli.freshDatabase());
        address.installation().open().close();
        AtomicBoolean slow = new AtomicBoolean();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        ApiKeys keys = new ApiKeys(
                () -> {
                    if (slow.compareAndSet(true, false)) {
                        asked.countDown();
                        awaitQuietly(answer);
                    }
                    return address.connect();
                },
                address.schema());
        String good = keys.createFirst().orElseThrow().key();
        assertThat(keys.createFirst()).isEmpty();
        assertThat(keys.find(good)).isPresent();
        slow.set(true);
        CompletableFuture<Optional<Caller>> first = CompletableFuture.supplyAsync(() -> {
            try {
                return keys.find(unknown('a'));
            } catch (java.sql.SQLException e) {
                throw new IllegalStateException(e);
            }
        });
        asked.await();
        assertThatThrownBy(() -> keys.find(unknown('b')))
                .isInstanceOfSatisfying(
                        Problem.class, refused -> assertThat(refused.status()).isEqualTo(429));
        assertThat(keys.find(good)).isPresent();
        answer.countDown();
        assertThat(first.get()).isEmpty();
        assertThat(keys.find(unknown('b'))).isEmpty();
    }

    @Test
    void while_the_database_is_away_one_caller_finds_out_and_the_others_are_told() throws Exception {
        Address address = Api.address(Cli.freshDatabase());
        address.installation().open().close();
        AtomicBoolean away = new AtomicBoolean();
        AtomicInteger tried = new AtomicInteger();
        CountDownLatch answer = new CountDownLatch(1);
        AtomicLong now = new AtomicLong();
        ApiKeys keys = new ApiKeys(
                () -> {
                    if (away.get()) {
                        tried.incrementAndGet();
                        awaitQuietly(answer);
                        throw new SQLTransientConnectionException("away");
                    }
                    return address.connect();
                },
                address.schema(),
                now::get);
        String good = keys.createFirst().orElseThrow().key();
        assertThat(keys.find(good)).isPresent();
        away.set(true);
        now.addAndGet(2_000_000_000);
        List<Future<Optional<Caller>>> all = new ArrayList<>();
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 20; i++) {
                all.add(callers.submit(() -> keys.find(good)));
            }
            Awaitility.await().untilAsserted(() -> assertThat(tried).hasValue(1));
            answer.countDown();
        }
        assertThat(all).allSatisfy(one -> assertThat(one.state()).isEqualTo(Future.State.FAILED));
        assertThat(tried).hasValue(1);
        assertThatThrownBy(() -> keys.find(good)).hasMessage("away");
        assertThatThrownBy(() -> keys.find(unknown('a'))).hasMessage("away");
        assertThat(tried).as("it was known to be away").hasValue(1);
        away.set(false);
        now.addAndGet(2_000_000_000);
        assertThat(keys.find(good)).isPresent();
    }

    @Test
    void while_the_database_is_slow_one_caller_asks_and_the_others_wait_for_his_answer() throws Exception {
        Address address = Api.address(Cli.freshDatabase());
        address.installation().open().close();
        AtomicBoolean slow = new AtomicBoolean();
        AtomicInteger asked = new AtomicInteger();
        CountDownLatch answer = new CountDownLatch(1);
        AtomicLong now = new AtomicLong();
        ApiKeys keys = new ApiKeys(
                () -> {
                    if (slow.get()) {
                        asked.incrementAndGet();
                        awaitQuietly(answer);
                    }
                    return address.connect();
                },
                address.schema(),
                now::get);
        String good = keys.createFirst().orElseThrow().key();
        assertThat(keys.find(good)).isPresent();
        slow.set(true);
        now.addAndGet(2_000_000_000);
        List<CompletableFuture<Optional<Caller>>> all = new ArrayList<>();
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            CompletableFuture<Optional<Caller>> found = new CompletableFuture<>();
            all.add(found);
            callers.add(Thread.startVirtualThread(() -> {
                try {
                    found.complete(keys.find(good));
                } catch (Exception e) {
                    found.completeExceptionally(e);
                }
            }));
        }
        // That is longer than an answer is trusted.
        Awaitility.await()
                .during(Duration.ofMillis(1_500))
                .until(() -> callers.stream()
                                .filter(caller -> caller.getState() == Thread.State.TIMED_WAITING)
                                .count()
                        == 19);
        now.addAndGet(2_000_000_000);
        answer.countDown();
        assertThat(all).allSatisfy(one -> assertThat(one.get()).isPresent());
        assertThat(asked).hasValue(1);
    }

    @Test
    void who_is_known_stays_known_when_another_key_is_revoked_and_who_is_not_is_asked_for_once() throws Exception {
        Address address = Api.address(Cli.freshDatabase());
        address.installation().open().close();
        AtomicInteger asked = new AtomicInteger();
        AtomicLong now = new AtomicLong();
        ApiKeys keys = new ApiKeys(
                () -> {
                    asked.incrementAndGet();
                    return address.connect();
                },
                address.schema(),
                now::get);
        String good = keys.createFirst().orElseThrow().key();
        ApiKeys.CreatedKey other = keys.create("other", Set.of(Verb.READ), "*", "*", null);
        assertThat(keys.find(good)).isPresent();
        assertThat(keys.find(other.key())).isPresent();
        assertThat(keys.find(unknown('a'))).isEmpty();
        int before = asked.get();
        assertThat(keys.find(unknown('a'))).isEmpty();
        assertThat(asked).hasValue(before);
        assertThat(keys.revoke(other.id())).isTrue();
        assertThat(keys.find(good)).isPresent();
        assertThat(asked).as("only the revocation").hasValue(before + 1);
        assertThat(keys.find(other.key())).isEmpty();
    }

    @Test
    void for_how_long_a_key_is_good_counts_by_the_clock_of_the_database() throws Exception {
        Address address = Api.address(Cli.freshDatabase());
        address.installation().open().close();
        ApiKeys keys = new ApiKeys(address::connect, address.schema());
        keys.create("short", Set.of(Verb.READ), "*", "*", Duration.ofHours(36));
        try (Connection connection = address.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "select expires_at - created_at between interval '35:59:59' and interval '36:00:01' from trunkline.api_key")) {
            row.next();
            assertThat(row.getBoolean(1)).isTrue();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whether_the_database_answers_is_asked_once_however_many_want_to_know() {
        AtomicInteger questions = new AtomicInteger();
        AtomicLong now = new AtomicLong();
        Readiness good = new Readiness(questions::incrementAndGet, now::get);
        good.require();
        good.require();
        assertThat(questions).hasValue(1);
        now.addAndGet(2_000_000_000);
        good.require();
        assertThat(questions).hasValue(2);
        Readiness bad = new Readiness(
                () -> {
                    questions.incrementAndGet();
                    throw new IllegalStateException("away");
                },
                now::get);
        assertThatThrownBy(bad::require).hasMessage("away");
        assertThatThrownBy(bad::require).hasMessage("away");
        assertThat(questions).hasValue(3);
    }
}
