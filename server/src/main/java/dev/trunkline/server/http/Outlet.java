package dev.trunkline.server.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Where an answer goes, piece by piece. Each piece is to be taken within a time, and all of them at some rate: who reads a byte now and then keeps the connection
 * alive, and would keep what he is told in memory for as long as he likes. An answer of one piece says how long it is.
 */
final class Outlet extends OutputStream {

    static final int PIECE = 64 * 1024;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /** How much of an answer is to be read in a second, once the first patience is used up. */
    private static final long RATE = PIECE;

    private static final int KEPT = 4 * 1024;

    private final Request request;
    private final Response response;
    private final Duration patience;
    private ByteArrayOutputStream piece = new ByteArrayOutputStream();
    private boolean begun;
    private boolean closed;
    private long sentBytes;
    private long waited;

    Outlet(Request request, Response response) {
        this(request, response, PATIENCE);
    }

    Outlet(Request request, Response response, Duration patience) {
        this.patience = patience;
        this.request = request;
        this.response = response;
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        int at = from;
        while (at < from + length) {
            int some = Math.min(PIECE - piece.size(), from + length - at);
            piece.write(bytes, at, some);
            at += some;
            if (piece.size() == PIECE) {
                send(false);
            }
        }
    }

    @Override
    public void flush() throws IOException {
        if (piece.size() > 0) {
            send(false);
        }
    }

    /** Ends the answer: not to be called when something of it is missing. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        if (!begun) {
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, piece.size());
        }
        send(true);
    }

    private void send(boolean last) throws IOException {
        begun = true;
        long began = System.nanoTime();
        long left = patience.toNanos() + TimeUnit.SECONDS.toNanos(sentBytes) / RATE - waited;
        CompletableFuture<Void> sent = new CompletableFuture<>();
        response.write(
                last,
                ByteBuffer.wrap(piece.toByteArray()),
                Callback.from(() -> sent.complete(null), sent::completeExceptionally));
        try {
            sent.get(Math.clamp(left, 0, patience.toNanos()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            request.getConnectionMetaData().getConnection().getEndPoint().close();
            throw new IOException("the caller has not read " + piece.size() + " bytes in time, after " + sentBytes, e);
        } catch (ExecutionException e) {
            throw new IOException("the caller has gone", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while an answer was sent");
        }
        waited += System.nanoTime() - began;
        sentBytes += piece.size();
        if (piece.size() > KEPT) {
            piece = new ByteArrayOutputStream();
        } else {
            piece.reset();
        }
    }
}
