package dev.trunkline.server.demo;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * Ctrl-C as a request. The JVM's own way would run the shutdown hooks, and with them stop the embedded PostgreSQL, while
 * the demo is still reading from it.
 *
 * <p>{@code sun.misc.Signal} is reached by reflection: javac warns of it in a way that can not be suppressed.
 */
final class Interrupts implements AutoCloseable {

    static final int EXIT_CODE = 130;
    private static final List<String> SIGNALS = List.of("INT", "TERM");

    private final Duration patience;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Map<String, Object> before = new HashMap<>();
    private boolean requested;

    /** Handles signals from now on. After the first, a second one or the end of patience ends the JVM. */
    Interrupts(Duration patience) {
        this.patience = patience;
        for (String signal : SIGNALS) {
            try {
                before.put(signal, handle(signal, handler()));
            } catch (ReflectiveOperationException e) {
                // The JVM keeps signals to itself (-Xrs): Ctrl-C then ends the demo without a proof.
            }
        }
    }

    /** Counts down at the first signal. */
    CountDownLatch stop() {
        return stop;
    }

    private static Object handle(String name, Object handler) throws ReflectiveOperationException {
        Class<?> signal = Class.forName("sun.misc.Signal");
        Method handle = signal.getMethod("handle", signal, handlerType());
        return handle.invoke(null, signal.getConstructor(String.class).newInstance(name), handler);
    }

    private static Class<?> handlerType() throws ClassNotFoundException {
        return Class.forName("sun.misc.SignalHandler");
    }

    private Object handler() throws ReflectiveOperationException {
        Runnable request = this::request;
        MethodHandle run = MethodHandles.publicLookup()
                .findVirtual(Runnable.class, "run", MethodType.methodType(void.class))
                .bindTo(request);
        return MethodHandleProxies.asInterfaceInstance(
                handlerType(), MethodHandles.dropArguments(run, 0, Object.class));
    }

    private synchronized void request() {
        if (requested) {
            System.exit(EXIT_CODE);
        }
        requested = true;
        stop.countDown();
        Thread.ofPlatform().daemon().name("demo-patience").start(this::exitLater);
    }

    private void exitLater() {
        try {
            Thread.sleep(patience);
            System.exit(EXIT_CODE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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
