package dev.trunkline;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Several observers as one. What one of them throws is logged, and keeps neither the others from being told nor anything from being done. */
record Observers(List<Observer> all) implements Observer {

    private static final Logger log = LoggerFactory.getLogger(Observers.class);

    static Observer of(List<Observer> all) {
        return all.isEmpty() ? NONE : new Observers(List.copyOf(all));
    }

    @Override
    public Publishing publishing(String topic, int messages) {
        List<Publishing> opened = opened(each -> each.publishing(topic, messages));
        return new Publishing() {
            @Override
            public Message carrying(Message message) {
                Message carried = message;
                for (Publishing each : opened) {
                    try {
                        carried = Objects.requireNonNull(each.carrying(carried), "no message");
                    } catch (Throwable e) { // it is published without
                        warn(e);
                    }
                }
                return carried;
            }

            @Override
            public void over(@Nullable Throwable problem) {
                tell(opened.reversed(), each -> each.over(problem));
            }
        };
    }

    @Override
    public Attempt handling(Delivery<?> delivery) {
        List<Attempt> opened = opened(each -> each.handling(delivery));
        return new Attempt() {
            @Override
            public void over(@Nullable Throwable problem) {
                tell(opened.reversed(), each -> each.over(problem));
            }
        };
    }

    @Override
    public List<GroupListener> listeners(String group, String topic) {
        return opened(each -> each.listeners(group, topic)).stream()
                .flatMap(List::stream)
                .toList();
    }

    @Override
    public void relayed(String topic, long messages, Duration took) {
        tell(all, each -> each.relayed(topic, messages, took));
    }

    @Override
    public void upkeep(Duration took, @Nullable Throwable problem) {
        tell(all, each -> each.upkeep(took, problem));
    }

    @Override
    public void notified(boolean arriving) {
        tell(all, each -> each.notified(arriving));
    }

    private <T> List<T> opened(Function<Observer, T> opening) {
        List<T> opened = new ArrayList<>(all.size());
        tell(all, each -> opened.add(Objects.requireNonNull(opening.apply(each), "nothing was opened")));
        return opened;
    }

    private static <T> void tell(List<T> all, Consumer<T> event) {
        for (T each : all) {
            try {
                event.accept(each);
            } catch (Throwable e) { // also errors, such as that of a class that is not there
                warn(e);
            }
        }
    }

    private static void warn(Throwable e) {
        log.warn("an observer failed", e);
    }
}
