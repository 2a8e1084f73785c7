package dev.trunkline.faults;

import dev.trunkline.rig.FaultProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/** A network of its own for one process, with one line to the rest, which can be taken down: then nobody hears of anybody. */
final class Island implements AutoCloseable {

    private static final String HERE = "10.231.97.1";
    private static final String THERE = "10.231.97.2";

    private final String name;
    private final FaultProxy line;

    private Island(String name, FaultProxy line) {
        this.name = name;
        this.line = line;
    }

    /** What this machine lacks for it. */
    static Optional<String> lacks() {
        return Shell.lacks("ip")
                .or(() -> Shell.fails(Island::tryOut).map(why -> "the right to make network namespaces"));
    }

    /** Root may not make one in most containers. */
    private static void tryOut() throws IOException, InterruptedException {
        String name = "trunk" + ProcessHandle.current().pid();
        Shell.run("ip", "netns", "add", name);
        Shell.run("ip", "netns", "del", name);
    }

    /** @param port of the server that can be reached from it */
    static Island create(int port) throws IOException, InterruptedException {
        String name = "trunk" + ProcessHandle.current().pid();
        Shell.run("ip", "netns", "add", name);
        Shell.run("ip", "link", "add", name, "type", "veth", "peer", "name", "sea", "netns", name);
        Shell.run("ip", "addr", "add", HERE + "/30", "dev", name);
        Shell.run("ip", "-n", name, "addr", "add", THERE + "/30", "dev", "sea");
        Island island = new Island(name, new FaultProxy(port, InetAddress.getByName(HERE)));
        Shell.run("ip", "-n", name, "link", "set", "lo", "up");
        Shell.run("ip", "-n", name, "link", "set", "sea", "up");
        island.connect();
        return island;
    }

    /** How a command begins that is run there. */
    List<String> prefix() {
        return List.of("ip", "netns", "exec", name);
    }

    /** Where the server is, seen from there. */
    Address address(Address here, String database) {
        return new Address(
                "jdbc:postgresql://" + HERE + ":" + line.port() + "/" + database, here.user(), here.password());
    }

    void connect() throws IOException, InterruptedException {
        Shell.run("ip", "link", "set", name, "up");
    }

    void cutOff() throws IOException, InterruptedException {
        Shell.run("ip", "link", "set", name, "down");
    }

    @Override
    public void close() {
        line.close();
        try {
            Shell.run("ip", "netns", "del", name);
        } catch (IOException e) {
            System.err.println("the network " + name + " was not taken away: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
