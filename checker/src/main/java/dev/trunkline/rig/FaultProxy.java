package dev.trunkline.rig;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A line to a PostgreSQL server that can be cut, delayed, or turned into a hole. It knows where messages begin and end: what is trapped is trapped
 * whole, in however many pieces it comes.
 */
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

    /** Waits for a message that is of interest, or for one that asks to run such SQL. */
    private record Trap(BiPredicate<byte[], String> catches, Fate fate) {}

    /** The end of every answer: the server is ready for what comes next. */
    private static final byte READY = 'Z';

    /** What the server sends by itself, while a connection does nothing. */
    private static final byte NOTIFICATION = 'A';

    /** What is answered, and ends with {@link #READY}. */
    private static final Set<Byte> ANSWERED = Set.of((byte) 'S', (byte) 'Q', (byte) 'F');

    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable Trap> trap = new AtomicReference<>();
    private final AtomicInteger trapped = new AtomicInteger();
    private volatile int target;
    private volatile boolean refusing;
    private volatile boolean silent;
    private volatile long delay;
    private volatile long jitter;

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

    /** The first connection to send this text, as it is or in a statement that it has prepared, meets that fate. */
    public void trap(String text, Fate fate) {
        String bytes = asBytes(text.getBytes(StandardCharsets.UTF_8));
        trap.set(new Trap((frame, sql) -> sql.contains(bytes) || asBytes(frame).contains(bytes), fate));
    }

    /** The first connection to commit meets that fate. */
    public void trapCommit(Fate fate) {
        trap.set(new Trap((frame, sql) -> Statements.isCommit(sql), fate));
    }

    /** One character for each. */
    private static String asBytes(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** Nothing more is done to anybody; connections that lead nowhere end. */
    public void restore() {
        trap.set(null);
        refusing = false;
        silent = false;
        delay(Duration.ZERO);
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
        delay(duration, Duration.ZERO);
    }

    /** Each piece takes so much longer, each way, and anything up to the jitter more. */
    public void delay(Duration duration, Duration newJitter) {
        delay = duration.toNanos();
        jitter = newJitter.toNanos();
    }

    private void pause() {
        long nanos = delay + (jitter > 0 ? ThreadLocalRandom.current().nextLong(jitter) : 0);
        if (nanos > 0) {
            LockSupport.parkNanos(nanos);
        }
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

    /** All are told before any is closed: who notices that one is closed, closes the others. */
    private static void reset(Socket... sockets) {
        for (Socket socket : sockets) {
            try {
                socket.setSoLinger(true, 0);
            } catch (IOException e) {
                // It is gone already.
            }
        }
        for (Socket socket : sockets) {
            try {
                socket.close();
            } catch (IOException e) {
                // It is gone already.
            }
        }
    }

    private final class Link {
        private final Socket client;
        private final Socket server;
        private final Frames requests;
        private final Frames replies;
        private final Statements statements = new Statements();
        private final ReentrantLock lock = new ReentrantLock();
        private boolean opened;
        private boolean encrypted;
        /** Answers that are still to come; that to who connects is the first. */
        private int awaited = 1;

        private volatile @Nullable Trap caught;

        Link(Socket client, Socket server) throws IOException {
            this.client = client;
            this.server = server;
            this.requests = Frames.ofClient(client.getInputStream());
            this.replies = Frames.ofServer(server.getInputStream());
        }

        void start() throws IOException {
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            links.add(this);
            if (refusing || server.getPort() != target) {
                reset(); // all was cut since it was connected, and this one was not there yet
            }
            Thread.ofVirtual().start(() -> pump(requests, server, this::fromClient));
            Thread.ofVirtual().start(() -> pump(replies, client, this::fromServer));
        }

        private void pump(Frames from, Socket to, Gate gate) {
            ByteArrayOutputStream piece = new ByteArrayOutputStream();
            try (client;
                    server) {
                while (!to.isClosed()) {
                    byte[] frame = from.next();
                    if (piece.size() == 0) {
                        pause();
                    }
                    if (lets(gate, frame)) {
                        piece.writeBytes(frame);
                    }
                    if (!from.hasNext()) {
                        to.getOutputStream().write(piece.toByteArray());
                        piece.reset();
                    }
                }
            } catch (EOFException e) {
                // One of them has hung up, and so does the other.
            } catch (IOException e) {
                reset();
            } finally {
                links.remove(this);
            }
        }

        private boolean lets(Gate gate, byte[] frame) {
            lock.lock();
            try {
                return encrypted || gate.lets(frame);
            } finally {
                lock.unlock();
            }
        }

        private boolean fromClient(byte[] frame) {
            if (!opened) {
                open(frame);
                return true;
            }
            String sql = statements.run(frame);
            Trap set = trap.get();
            if (caught == null && set != null && set.catches.test(frame, sql) && trap.compareAndSet(set, null)) {
                caught = set;
                trapped.incrementAndGet();
            }
            Trap mine = caught;
            if (mine != null && mine.fate.reset && !mine.fate.heard) {
                reset();
            }
            if (mine == null && ANSWERED.contains(frame[0])) {
                awaited++;
            }
            return mine == null || mine.fate.heard;
        }

        private void open(byte[] frame) {
            if (Frames.isAboutEncryption(frame)) {
                replies.expectAnswer();
            } else {
                opened = true;
            }
        }

        /** What was asked before is answered; what was trapped is not. */
        private boolean fromServer(byte[] frame) {
            if (!opened) {
                answer(frame);
                return true;
            }
            Trap mine = caught;
            if (mine != null && awaited == 0) {
                if (frame[0] == READY && mine.fate.reset) {
                    reset();
                }
                return false;
            }
            if (frame[0] == READY) {
                awaited--;
            }
            return !silent || frame[0] != NOTIFICATION;
        }

        private void answer(byte[] frame) {
            if (frame[0] != 'N') {
                encrypted = true;
                requests.expectAnything();
                replies.expectAnything();
            }
        }

        void reset() {
            FaultProxy.reset(client, server);
        }

        boolean isTrapped() {
            return caught != null;
        }

        boolean isOver() {
            return client.isClosed();
        }
    }

    /** Whether a message goes through. */
    @FunctionalInterface
    private interface Gate {
        boolean lets(byte[] frame);
    }
}
