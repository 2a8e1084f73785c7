package dev.trunkline.server.http;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
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

    private static Raw read(InputStream stream, boolean bare) throws IOException {
        InputStream in = new BufferedInputStream(stream);
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
