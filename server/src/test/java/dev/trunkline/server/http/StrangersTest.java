package dev.trunkline.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.server.Address;
import dev.trunkline.server.Cli;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
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
