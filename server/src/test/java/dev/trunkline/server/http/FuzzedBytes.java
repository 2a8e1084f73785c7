package dev.trunkline.server.http;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.random.RandomGenerator;

/** What hardly is HTTP: the whole of a request, with its lengths, chunks and line ends, changed at random. */
final class FuzzedBytes {

    private static final List<String> VERSIONS = List.of(
            "HTTP/1.0",
            "HTTP/1.2",
            "HTTP/2.0",
            "HTTP/0.9",
            "HTTP/9.9",
            "HTTP/1",
            "HTTP/",
            "http/1.1",
            "HTTP/1.1 x",
            "");
    private static final List<String> LENGTHS = List.of(
            "Content-Length: -1",
            "Content-Length: 0",
            "Content-Length: x",
            "Content-Length: 0x10",
            "Content-Length: 1, 2",
            "Content-Length: 9223372036854775807",
            "Content-Length: 99999999999999999999",
            "Content-Length : 5",
            "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: gzip",
            "Transfer-Encoding: identity",
            "Transfer-Encoding: chunked, chunked",
            "Transfer-Encoding: chunked, identity",
            "Transfer-Encoding: \u000bchunked");
    private static final List<String> CHUNKS =
            List.of("0", "-1", "FFFFFFFF", "FFFFFFFFFFFFFFFFF", "x", "", "5;a=b", "5 ", "0x5", "00000000000005", "7\n");

    private FuzzedBytes() {}

    static byte[] of(FuzzedRequests.Fuzzed one, FuzzedRequests.Fuzzed other, RandomGenerator random) {
        String body = latin(one.body());
        String length = "Content-Length: " + one.body().length;
        String text = switch (random.nextInt(9)) {
            case 0 -> version(one.head(), random) + length + "\r\n\r\n" + body;
            case 1, 2 -> one.head() + LENGTHS.get(random.nextInt(LENGTHS.size())) + "\r\n\r\n" + body;
            case 3 -> one.head() + "Content-Length: " + (body.length() + random.nextInt(-9, 9)) + "\r\n\r\n" + body;
            case 4 -> one.head() + "Transfer-Encoding: chunked\r\n\r\n" + chunks(body, random);
            case 5 -> one.head() + "X: y\r\n".repeat(random.nextInt(4_000)) + length + "\r\n\r\n" + body;
            case 6 -> latin(noise(random));
            case 7 -> one.head().replace("\r\n", random.nextBoolean() ? "\n" : "\r") + length + "\n\n" + body;
            default ->
                one.head() + length + "\r\n\r\n" + body + other.head() + "Content-Length: " + other.body().length
                        + "\r\n\r\n" + latin(other.body());
        };
        byte[] bytes = text.replace("HEAD ", "GET ").getBytes(StandardCharsets.ISO_8859_1);
        for (int i = random.nextInt(3); i > 0; i--) {
            bytes = Mutations.change(bytes, other.head().getBytes(StandardCharsets.ISO_8859_1), random);
        }
        return bytes;
    }

    private static String version(String head, RandomGenerator random) {
        return head.replaceFirst("HTTP/1\\.1", VERSIONS.get(random.nextInt(VERSIONS.size())));
    }

    private static String chunks(String body, RandomGenerator random) {
        StringBuilder chunks = new StringBuilder();
        for (int from = 0; from < body.length(); ) {
            int to = Math.min(body.length(), from + 1 + random.nextInt(40));
            String size = random.nextInt(12) == 0
                    ? CHUNKS.get(random.nextInt(CHUNKS.size()))
                    : Integer.toHexString(to - from);
            chunks.append(size).append("\r\n").append(body, from, to).append("\r\n");
            from = to;
        }
        return chunks + (random.nextInt(8) == 0 ? "" : "0\r\n\r\n");
    }

    private static byte[] noise(RandomGenerator random) {
        byte[] noise = new byte[random.nextInt(400)];
        random.nextBytes(noise);
        return noise;
    }

    private static String latin(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
