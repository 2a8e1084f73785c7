package dev.trunkline.rig;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A pooler in transaction mode, as PgBouncer is one: many clients share few connections to a PostgreSQL server. A client has one from its first
 * message until the server says that it is in no transaction. What it has set, prepared or listened to stays with that connection, which somebody
 * else has next. The server must trust whoever connects, and all clients use one database as one user.
 */
public final class TransactionPooler implements AutoCloseable {

    private static final byte[] WELCOME = {'R', 0, 0, 0, 8, 0, 0, 0, 0};
    private static final byte[] READY = {'Z', 0, 0, 0, 5, 'I'};

    private final int target;
    private final Semaphore places;
    private final ServerSocket listener;
    private final Queue<Backend> idle = new ConcurrentLinkedQueue<>();
    private final Set<Backend> backends = ConcurrentHashMap.newKeySet();
    private final Map<Integer, Client> clients = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();

    /**
     * A pooler that listens at once.
     *
     * @param port of the server on this machine
     * @param size the most connections that it uses at once
     */
    public TransactionPooler(int port, int size) {
        this.target = port;
        this.places = new Semaphore(size, true);
        try {
            this.listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    public String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:" + listener.getLocalPort() + "/" + database;
    }

    /** Cuts some of the connections to the server, whatever goes on there: who has one loses its own. */
    public void cutSome(Random random) {
        backends.stream().filter(backend -> random.nextBoolean()).forEach(Backend::close);
    }

    /** Gives up the connections that nobody has now, so that all get others. */
    public void swap() {
        for (Backend backend = idle.poll(); backend != null; backend = idle.poll()) {
            backend.close();
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException e) {
                // Closed, or somebody has given up already.
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            Frames in = Frames.ofClient(socket.getInputStream());
            byte[] start = in.next();
            while (Frames.isAboutEncryption(start)) {
                socket.getOutputStream().write('N');
                start = in.next();
            }
            if (Frames.code(start) == Frames.CANCEL) {
                Client client = clients.get(ByteBuffer.wrap(start).getInt(8));
                if (client != null) {
                    client.cancel();
                }
            } else {
                new Client(socket, in, start).serve();
            }
        } catch (IOException e) {
            // It is gone, or the server has no connection for it: it sees its own end.
            reset(socket);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void reset(Socket socket) {
        try (socket) {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // It is gone already.
        }
    }

    private Backend take(byte[] start) throws IOException, InterruptedException {
        places.acquire();
        try {
            Backend backend = idle.poll();
            while (backend != null && backend.isClosed()) {
                backend = idle.poll();
            }
            return backend == null ? new Backend(start) : backend;
        } catch (IOException e) {
            places.release();
            throw e;
        }
    }

    private void give(Backend backend) {
        idle.add(backend);
        places.release();
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        clients.values().forEach(client -> reset(client.socket));
        backends.forEach(Backend::close);
    }

    /** Somebody who believes that he has a connection of his own. */
    private final class Client {
        private final int number = numbers.incrementAndGet();
        private final Socket socket;
        private final Frames in;
        private final OutputStream out;
        private final byte[] start;
        private final ReentrantLock lock = new ReentrantLock();
        private @Nullable Backend backend;
        /** Answers that are still to come. */
        private int awaited;
        /** Whether something was sent that is not answered before more is. */
        private boolean open;
        /** Its connection was lost: what it has sent since is for that one, and goes to no other. */
        private boolean lost;

        Client(Socket socket, Frames in, byte[] start) throws IOException {
            this.socket = socket;
            this.in = in;
            this.out = new BufferedOutputStream(socket.getOutputStream(), 1 << 16);
            this.start = start;
        }

        void serve() throws IOException, InterruptedException {
            clients.put(number, this);
            try {
                greet();
                for (byte[] message = in.next(); message[0] != 'X'; message = in.next()) {
                    linked(message[0]).write(message, !in.hasNext());
                }
            } finally {
                clients.remove(number);
                leave();
            }
        }

        private void greet() throws IOException, InterruptedException {
            Backend any = take(start);
            out.write(WELCOME);
            out.write(any.parameters);
            out.write(ByteBuffer.allocate(13)
                    .put((byte) 'K')
                    .putInt(12)
                    .putInt(number)
                    .putInt(0)
                    .array());
            out.write(READY);
            out.flush();
            give(any);
        }

        private Backend linked(byte letter) throws IOException, InterruptedException {
            lock.lock();
            try {
                if (lost) {
                    throw new IOException("the server's side is gone");
                }
                if (backend == null) {
                    backend = take(start);
                    backend.client = this;
                }
                boolean isAnswered = letter == 'S' || letter == 'Q' || letter == 'F';
                awaited += isAnswered ? 1 : 0;
                open = !isAnswered;
                return backend;
            } finally {
                lock.unlock();
            }
        }

        /** From the server. */
        void receive(Backend from, byte[] message, boolean last) throws IOException {
            if (message[0] != 'Z') {
                out.write(message);
                if (last) {
                    out.flush();
                }
                return;
            }
            lock.lock();
            try {
                out.write(message);
                awaited--;
                if (message[5] == 'I' && awaited == 0 && !open && backend == from) {
                    // Before anybody knows that it is free: who then acts finds it so.
                    backend = null;
                    from.client = null;
                    give(from);
                    flushOrReset();
                } else {
                    out.flush();
                }
            } finally {
                lock.unlock();
            }
        }

        /** If it is gone, that is no matter of the connection that it had. */
        private void flushOrReset() {
            try {
                out.flush();
            } catch (IOException e) {
                reset(socket);
            }
        }

        /** The server's side is gone. */
        void lose(Backend from) {
            lock.lock();
            try {
                if (backend == from) {
                    backend = null;
                    lost = true;
                    places.release();
                }
            } finally {
                lock.unlock();
            }
            reset(socket);
        }

        /** What it leaves unfinished ends with the connection that it has. */
        private void leave() {
            lock.lock();
            try {
                if (backend != null) {
                    backend.client = null;
                    backend.close();
                    backend = null;
                    places.release();
                }
            } finally {
                lock.unlock();
            }
        }

        /** The lock is held until the server has done it: nobody else is hit. */
        void cancel() throws IOException {
            lock.lock();
            try {
                if (backend != null) {
                    backend.cancel();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** A connection to the server. */
    private final class Backend {
        private final Socket socket;
        private final Frames in;
        private final OutputStream out;
        private final byte[] parameters;
        private byte[] key = new byte[8];
        private volatile @Nullable Client client;

        Backend(byte[] start) throws IOException {
            this.socket = new Socket(InetAddress.getLoopbackAddress(), target);
            socket.setTcpNoDelay(true);
            this.in = Frames.ofServer(socket.getInputStream());
            this.out = new BufferedOutputStream(socket.getOutputStream(), 1 << 16);
            write(start, true);
            ByteArrayOutputStream told = new ByteArrayOutputStream();
            for (byte[] message = in.next(); message[0] != 'Z'; message = in.next()) {
                switch (message[0]) {
                    case 'S' -> told.writeBytes(message);
                    case 'K' -> ByteBuffer.wrap(message).get(5, key);
                    case 'E' -> throw refused("the server has no connection");
                    case 'R' -> {
                        if (ByteBuffer.wrap(message).getInt(5) != 0) {
                            throw refused("the server wants a password");
                        }
                    }
                    default -> {} // a notice
                }
            }
            this.parameters = told.toByteArray();
            backends.add(this);
            Thread.ofVirtual().start(this::read);
        }

        private IOException refused(String why) {
            reset(socket);
            return new IOException(why);
        }

        private void read() {
            try {
                while (true) {
                    byte[] message = in.next();
                    Client to = client;
                    // What comes while nobody has it is a notification for somebody who had.
                    if (to != null) {
                        to.receive(this, message, !in.hasNext());
                    }
                }
            } catch (IOException e) {
                close();
                Client loser = client;
                if (loser != null) {
                    loser.lose(this);
                }
            }
        }

        void write(byte[] message, boolean last) throws IOException {
            out.write(message);
            if (last) {
                out.flush();
            }
        }

        void cancel() throws IOException {
            try (Socket other = new Socket(InetAddress.getLoopbackAddress(), target)) {
                other.getOutputStream()
                        .write(ByteBuffer.allocate(16)
                                .putInt(16)
                                .putInt(Frames.CANCEL)
                                .put(key)
                                .array());
                other.getInputStream().read();
            }
        }

        boolean isClosed() {
            return socket.isClosed();
        }

        void close() {
            backends.remove(this);
            reset(socket);
        }
    }
}
