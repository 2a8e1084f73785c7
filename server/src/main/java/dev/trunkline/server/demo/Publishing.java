package dev.trunkline.server.demo;

import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.Message;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.Publisher;
import dev.trunkline.server.demo.Sent.Outcome;
import java.time.Duration;

/** One of the ways to publish, as one writer does it. */
interface Publishing extends AutoCloseable {

    String TOPIC = "orders.events";

    Outcome publish(Order order);

    @Override
    default void close() {}

    static Message message(Order order) {
        return Message.of(TOPIC, order).withKey(order.customer()).withDelay(Duration.ofMillis(order.delayMillis()));
    }

    /** At once or delayed, in a transaction of the library's own. */
    static Publishing onItsOwn(Publisher publisher) {
        return order -> {
            try {
                publisher.publish(message(order));
                return Outcome.COMMITTED;
            } catch (DatabaseUnavailableException e) {
                return Outcome.ROLLED_BACK;
            } catch (OutcomeUnknownException e) {
                return Outcome.UNKNOWN;
            }
        };
    }
}
