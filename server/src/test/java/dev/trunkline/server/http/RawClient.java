package dev.trunkline.server.http;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Sends what no HTTP client would, and reads what comes. Not for several threads at once. */
final class RawClient implements AutoCloseable {

    private static final int PATIENCE_MILLIS = 60_000;

    private final URI server;
    private @Nullable Socket socket;

    RawClient(String url) {
        this.server = URI.create(url);
    }

    /** An answer; the names of its headers are in lower case. Of one that does not say how long it is, nothing more is read. */
    record Raw(int status, Map<String, String> headers, String body) {}

    /** Whether nothing comes that was not asked for. */
    boolean isQuiet() throws IOException {
        return socket == null || socket.getInputStream().available() == 0;
    }

    /** @param head all before the body, without the length of it */
    Raw ask(String head, String body) throws IOException {
        return ask(head, body.getBytes(StandardCharsets.UTF_8));
    }

    Raw ask(String head, byte[] bytes) throws IOException {
        Socket line = connected();
        line.getOutputStream()
                .write((head + "Content-Length: " + bytes.length + "\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
        line.getOutputStream().write(bytes);
        line.getOutputStream().flush();
        Raw answer = read(line.getInputStream(), head.startsWith("HEAD "));
        boolean goesOn = answer.status != 204 && !answer.headers.containsKey("content-length");
        if (goesOn || "close".equals(answer.headers.get("connection"))) {
            close();
        }
        return answer;
    }

    /** The same, within a time; on another connection, if the one that there was has ended meanwhile. */
    Raw ask(String head, byte[] bytes, Duration most) throws IOException {
        boolean fresh = socket == null;
        try {
            connected().setSoTimeout(Math.toIntExact(most.toMillis()));
            return ask(head, bytes);
        } catch (IOException e) {
            close();
            if (fresh || e instanceof SocketTimeoutException) {
                throw e;
            }
            return ask(head, bytes, most);
        }
    }

    private Socket connected() throws IOException {
        Socket line = socket;
        if (line == null) {
            line = new Socket(server.getHost(), server.getPort());
            line.setSoTimeout(PATIENCE_MILLIS);
            line.setTcpNoDelay(true);
            socket = line;
        }
        return line;
    }

    /**
     * What was answered on one connection.
     *
     * @param whole whether the server came to its end: else it may have answered more than could be heard
     */
    record Heard(List<Raw> answers, boolean whole) {}

    /** Says all of this on a connection of its own, and that this was all; and hears what is answered until the server hangs up. */
    Heard say(byte[] bytes) throws IOException {
        List<Raw> answers = new ArrayList<>();
        try (Socket line = new Socket(server.getHost(), server.getPort())) {
            line.setSoTimeout(PATIENCE_MILLIS);
            try {
                line.getOutputStream().write(bytes);
                line.shutdownOutput();
            } catch (IOException heardEnough) {
                // It has answered before all was said.
            }
            PushbackInputStream in = new PushbackInputStream(new BufferedInputStream(line.getInputStream()));
            for (int next = in.read(); next >= 0; next = in.read()) {
                in.unread(next);
                Raw answer = read(in, false);
                boolean chunked = answer.headers.containsKey("transfer-encoding");
                boolean toTheEnd = !chunked && answer.status != 204 && !answer.headers.containsKey("content-length");
                byte[] more = chunked ? chunks(in) : toTheEnd ? in.readAllBytes() : new byte[0];
                answers.add(
                        new Raw(answer.status, answer.headers, answer.body + new String(more, StandardCharsets.UTF_8)));
            }
            return new Heard(answers, true);
        } catch (SocketTimeoutException e) {
            throw e;
        } catch (IOException cutOff) {
            return new Heard(answers, false);
        }
    }

    private static byte[] chunks(InputStream in) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int size = Integer.parseInt(line(in), 16); size > 0; size = Integer.parseInt(line(in), 16)) {
            all.write(in.readNBytes(size));
            line(in);
        }
        line(in);
        return all.toByteArray();
    }

    private static Raw read(InputStream stream, boolean bare) throws IOException {
        InputStream in = stream instanceof PushbackInputStream ? stream : new BufferedInputStream(stream);
        Raw answer = readOne(in, bare);
        while (answer.status < 200) { // it is asked to go on
            answer = readOne(in, bare);
        }
        return answer;
    }

    private static Raw readOne(InputStream in, boolean bare) throws IOException {
        int status = Integer.parseInt(line(in).split(" ", 3)[1]);
        Map<String, String> headers = new HashMap<>();
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            String[] parts = line.split(":", 2);
            headers.put(parts[0].toLowerCase(Locale.ROOT), parts[1].strip());
        }
        int length = bare ? 0 : Integer.parseInt(headers.getOrDefault("content-length", "0"));
        return new Raw(status, headers, new String(in.readNBytes(length), StandardCharsets.UTF_8));
    }

    private static String line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new IOException("the server has hung up");
            }
            line.write(next);
        }
        return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
    }

    @Override
    public void close() throws IOException {
        if (socket != null) {
            socket.close();
            socket = null;
        }
    }
}
