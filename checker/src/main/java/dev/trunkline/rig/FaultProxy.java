package dev.trunkline.rig;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A line to a PostgreSQL server that can be cut, delayed, or turned into a hole. */
public final class FaultProxy implements AutoCloseable {

    /** What becomes of the connection that sends a certain text. */
    public enum Fate {
        /** It is reset, and the server has not heard of it. */
        REQUEST_CUT(false, true),
        /** It is reset when the server has done what was asked, before anybody hears of that. */
        REPLY_CUT(true, true),
        /** It stays, but from this request on the server hears nothing. */
        REQUEST_VANISHES(false, false),
        /** It stays, but nothing more comes back. */
        REPLY_VANISHES(true, false);

        private final boolean heard;
        private final boolean reset;

        Fate(boolean heard, boolean reset) {
            this.heard = heard;
            this.reset = reset;
        }

        /** Whether the server does what was asked. */
        public boolean isHeard() {
            return heard;
        }
    }

    private record Trap(String text, Fate fate) {}

    /** The end of every answer: ready, and not in a transaction. */
    private static final byte[] READY = {'Z', 0, 0, 0, 5, 'I'};

    /** How a notification begins, which the server sends by itself, while a connection does nothing. */
    private static final byte NOTIFICATION = 'A';

    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable Trap> trap = new AtomicReference<>();
    private final AtomicInteger trapped = new AtomicInteger();
    private volatile int target;
    private volatile boolean refusing;
    private volatile boolean silent;
    private volatile long delay;

    /** @param port of the server on this machine */
    public FaultProxy(int port) {
        this(port, InetAddress.getLoopbackAddress());
    }

    /** @param address where it listens */
    public FaultProxy(int port, InetAddress address) {
        this.target = port;
        try {
            this.listener = new ServerSocket(0, 100, address);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    /** Where it listens. */
    public int port() {
        return listener.getLocalPort();
    }

    public String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:" + listener.getLocalPort() + "/" + database;
    }

    /** From now on it leads to another server on this machine; what is connected to the last one is reset. */
    public void lead(int port) {
        target = port;
        cutNow();
    }

    /** Resets all connections. */
    public void cutNow() {
        links.forEach(Link::reset);
    }

    /** The first connection to send this text meets that fate. */
    public void trap(String text, Fate fate) {
        trap.set(new Trap(text, fate));
    }

    /** Nothing more is done to anybody; connections that lead nowhere end. */
    public void restore() {
        trap.set(null);
        refusing = false;
        silent = false;
        delay = 0;
        links.stream().filter(Link::isTrapped).forEach(Link::reset);
    }

    /** How many connections were trapped. */
    public int trapped() {
        return trapped.get();
    }

    /** New connections are refused or not. */
    public void refuse(boolean newRefusing) {
        refusing = newRefusing;
    }

    /** Notifications arrive or not. */
    public void silence(boolean newSilent) {
        silent = newSilent;
    }

    /** Each piece takes so much longer, each way. */
    public void delay(Duration duration) {
        delay = duration.toNanos();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                connect(listener.accept());
            } catch (IOException e) {
                links.removeIf(Link::isOver); // closed
            }
        }
    }

    private void connect(Socket client) {
        if (refusing) {
            reset(client);
            return;
        }
        try {
            new Link(client, new Socket(InetAddress.getLoopbackAddress(), target)).start();
        } catch (IOException e) {
            reset(client); // the server is away
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        cutNow();
    }

    private static void reset(Socket socket) {
        try (socket) {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // It is gone already.
        }
    }

    private final class Link {
        private final Socket client;
        private final Socket server;
        private volatile @Nullable Trap caught;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void start() throws IOException {
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            links.add(this);
            Thread.ofVirtual().start(() -> pump(client, server, this::fromClient));
            Thread.ofVirtual().start(() -> pump(server, client, this::fromServer));
        }

        private void pump(Socket from, Socket to, Gate gate) {
            byte[] buffer = new byte[1 << 16];
            try (InputStream in = from.getInputStream();
                    OutputStream out = to.getOutputStream()) {
                for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                    if (delay > 0) {
                        LockSupport.parkNanos(delay);
                    }
                    if (gate.lets(buffer, n)) {
                        out.write(buffer, 0, n);
                        out.flush();
                    }
                }
            } catch (IOException e) {
                reset();
            } finally {
                links.remove(this);
            }
        }

        private boolean fromClient(byte[] bytes, int n) {
            Trap set = trap.get();
            if (caught == null
                    && set != null
                    && new String(bytes, 0, n, StandardCharsets.ISO_8859_1).contains(set.text())
                    && trap.compareAndSet(set, null)) {
                caught = set;
                trapped.incrementAndGet();
            }
            Trap mine = caught;
            if (mine == null || mine.fate().heard) {
                return true;
            }
            if (mine.fate().reset) {
                reset();
            }
            return false;
        }

        private boolean fromServer(byte[] bytes, int n) {
            Trap mine = caught;
            if (mine == null) {
                return !silent || bytes[0] != NOTIFICATION;
            }
            boolean done = n >= READY.length && Arrays.equals(bytes, n - READY.length, n, READY, 0, READY.length);
            if (done && mine.fate().reset) {
                reset();
            }
            return false;
        }

        void reset() {
            FaultProxy.reset(client);
            FaultProxy.reset(server);
        }

        boolean isTrapped() {
            return caught != null;
        }

        boolean isOver() {
            return client.isClosed();
        }
    }

    /** Whether bytes go through. */
    @FunctionalInterface
    private interface Gate {
        boolean lets(byte[] bytes, int n);
    }
}
