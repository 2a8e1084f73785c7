package dev.trunkline.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.trunkline.Message;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** An error such as a lack of memory while a batch is published. */
@Tag("fault")
@Timeout(60)
class ErrorInFlightTest {

    private final TestDatabase database = TestDatabase.fresh();

    /** One thread gets no connection, once. */
    private static final class Source extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;
        private transient volatile @Nullable Thread unlucky;

        @Override
        public Connection getConnection() throws SQLException {
            if (Thread.currentThread().equals(unlucky)) {
                unlucky = null;
                throw new OutOfMemoryError("made up");
            }
            return super.getConnection();
        }
    }

    /** The enemy: the topic's flight never lands, and whoever publishes to it after that waits for ever. */
    @Test
    void its_publisher_is_told_and_the_next_one_gets_through() {
        Source source = new Source();
        source.setUrl(database.url());
        source.setUser(database.server().user());
        source.setPassword(database.server().password());
        try (Trunkline trunkline = Trunkline.open(source)) {
            trunkline.topics().create(TopicConfiguration.queue("q").withPartitions(1));
            trunkline.publisher().publish(Message.of("q", "before"));
            source.unlucky = Thread.currentThread();
            assertThatThrownBy(() -> trunkline.publisher().publish(Message.of("q", "lost?")))
                    .isInstanceOf(OutcomeUnknownException.class)
                    .hasMessageContaining("made up");
            trunkline.publisher().publish(Message.of("q", "after"));
            assertThat(trunkline.log().read("q", 0, 0, 10))
                    .extracting(message -> message.text())
                    .containsExactly("before", "after");
        }
    }
}
