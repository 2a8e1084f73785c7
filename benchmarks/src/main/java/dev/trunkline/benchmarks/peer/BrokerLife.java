package dev.trunkline.benchmarks.peer;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;

/** What the main class of a {@link Broker} does: it says when it is ready, and ends when the JVM that has started it does, even by a kill. */
final class BrokerLife {

    private BrokerLife() {}

    /** Starts a broker. */
    @FunctionalInterface
    interface Start {
        /** Returns its port once it is ready. */
        int start() throws Exception;
    }

    @SuppressWarnings("CatchAndPrintStackTrace") // the starter shows it
    static void live(Start start) throws IOException {
        PrintStream starter = System.out;
        System.setOut(System.err);
        try {
            starter.println(start.start());
            System.in.transferTo(OutputStream.nullOutputStream());
        } catch (Throwable e) {
            e.printStackTrace();
        }
        Runtime.getRuntime().halt(1);
    }

    /** Ports that are free now. */
    static int[] freePorts(int count) throws IOException {
        int[] ports = new int[count];
        ServerSocket[] sockets = new ServerSocket[count];
        for (int i = 0; i < count; i++) {
            sockets[i] = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            ports[i] = sockets[i].getLocalPort();
        }
        for (ServerSocket socket : sockets) {
            socket.close();
        }
        return ports;
    }
}
