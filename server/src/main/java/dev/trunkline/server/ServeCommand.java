package dev.trunkline.server;

import dev.trunkline.server.http.Service;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code trunkline serve}. */
@Command(
        name = "serve",
        description = {
            "Serve Trunkline over HTTP until Ctrl-C.",
            "Without --url, on a PostgreSQL of its own, whose data stays in --data."
        })
final class ServeCommand implements Callable<Integer> {

    @Spec
    CommandSpec command = CommandSpec.create();

    @Mixin
    ConnectionOptions database = new ConnectionOptions();

    @Option(
            names = "--data",
            paramLabel = "DIR",
            defaultValue = "${env:TRUNKLINE_DATA:-trunkline-data}",
            description = "Where a PostgreSQL of its own keeps its data: trunkline-data by default. Or TRUNKLINE_DATA.")
    Path data = Path.of("trunkline-data");

    @Option(
            names = "--host",
            defaultValue = "${env:TRUNKLINE_HOST:-127.0.0.1}",
            description = "The address to listen at: 127.0.0.1 by default. Or TRUNKLINE_HOST.")
    String host = "127.0.0.1";

    @Option(
            names = "--port",
            defaultValue = "${env:TRUNKLINE_PORT:-8787}",
            description = "The port: 8787 by default, 0 for a free one. Or TRUNKLINE_PORT.")
    int port;

    @Option(names = "--no-auth", description = "Ask nobody for a key. Only at a loopback address.")
    boolean open;

    @Option(
            names = "--behind-tls-proxy",
            description = "At another than a loopback address: something in front of it speaks TLS.")
    boolean behindProxy;

    @Option(
            names = "--max-body-bytes",
            paramLabel = "N",
            defaultValue = "${env:TRUNKLINE_MAX_BODY_BYTES:-1048576}",
            description = "The longest body of a request, but for streams: 1048576 by default.")
    long mostBytes;

    @Override
    public Integer call() throws Exception {
        requireSafe();
        PrintWriter out = command.commandLine().getOut();
        CountDownLatch stop = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        Thread hook = new Thread(
                () -> {
                    stop.countDown();
                    awaitQuietly(stopped);
                },
                "trunkline-serve");
        Runtime.getRuntime().addShutdownHook(hook);
        try (Service service = start()) {
            service.firstKey().ifPresent(key -> {
                out.println("The first key, which may do everything. It is shown once:");
                out.println("  " + key);
            });
            out.println("Trunkline on " + service + " listens at " + service.url());
            out.flush();
            stop.await();
        } finally {
            stopped.countDown();
        }
        return 0;
    }

    private Service start() throws Exception {
        Optional<Address> given =
                database.url == null || database.url.isBlank() ? Optional.empty() : Optional.of(database.address());
        return Service.start(given, data, host, port, mostBytes, !open);
    }

    private void requireSafe() {
        if (port < 0 || port > 65_535) {
            throw new ParameterException(command.commandLine(), "--port is " + port + ": use 0 to 65535");
        }
        if (mostBytes < 1) {
            throw new ParameterException(command.commandLine(), "--max-body-bytes is " + mostBytes + ": use more");
        }
        String flaw = flaw();
        if (flaw != null) {
            throw new ParameterException(command.commandLine(), flaw);
        }
    }

    private @Nullable String flaw() {
        try {
            if (InetAddress.getByName(host).isLoopbackAddress()) {
                return null;
            }
        } catch (UnknownHostException e) {
            return "--host " + host + " is no address of this machine";
        }
        if (open) {
            return "--no-auth at " + host + " would let everybody in: use a loopback address";
        }
        return behindProxy
                ? null
                : "keys would be sent in the clear to " + host
                        + ": put a proxy with TLS in front, and say --behind-tls-proxy";
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
