package dev.trunkline.server;

import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Ctrl-C as a request. The JVM's own way would run the shutdown hooks, and with them stop the embedded PostgreSQL, while
 * the demo is still reading from it, and leave a batch open of which some is printed.
 *
 * <p>{@code sun.misc.Signal} is reached by reflection: javac warns of it in a way that can not be suppressed.
 */
public final class Interrupts implements AutoCloseable {

    private static final int EXIT_CODE = 130;

    private final CountDownLatch stop = new CountDownLatch(1);
    private final AtomicBoolean requested = new AtomicBoolean();
    private final Map<String, Object> before = new HashMap<>();

    /** Handles signals from now on. After the first, a second one ends the JVM. */
    public Interrupts() {
        for (String signal : List.of("INT", "TERM")) {
            try {
                Class<?>[] type = {Class.forName("sun.misc.SignalHandler")};
                before.put(
                        signal,
                        handle(
                                signal,
                                Proxy.newProxyInstance(
                                        getClass().getClassLoader(), type, (proxy, method, arguments) -> request())));
            } catch (ReflectiveOperationException e) {
                // The JVM keeps signals to itself (-Xrs): Ctrl-C then ends it at once.
            }
        }
    }

    /** Counts down at the first signal. */
    public CountDownLatch stop() {
        return stop;
    }

    private static Object handle(String name, Object handler) throws ReflectiveOperationException {
        Class<?> signal = Class.forName("sun.misc.Signal");
        return signal.getMethod("handle", signal, Class.forName("sun.misc.SignalHandler"))
                .invoke(null, signal.getConstructor(String.class).newInstance(name), handler);
    }

    private @Nullable Object request() {
        if (requested.getAndSet(true)) {
            System.exit(EXIT_CODE);
        }
        stop.countDown();
        return null;
    }

    @Override
    public void close() {
        before.forEach((signal, handler) -> {
            try {
                handle(signal, handler);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("can not restore the handler of " + signal, e);
            }
        });
    }
}
