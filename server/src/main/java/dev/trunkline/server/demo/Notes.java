package dev.trunkline.server.demo;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.trunkline.Delivery;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the handlers of one process write down, in a file of its own. A note is with the system when it is written: it outlives a
 * process that is killed right after. Tickets put the notes of all processes in one order, without a clock: they are drawn
 * from a counter in memory that the processes share.
 */
final class Notes {

    private static final JsonMapper JSON = new JsonMapper();
    private static final VarHandle COUNTER =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    /**
     * That a group's handler has handled an order, or failed to.
     *
     * @param began a ticket that it drew first
     * @param ended a ticket that it drew last
     */
    record Note(String group, Order order, long process, long epoch, boolean failed, long began, long ended) {
        @Override
        public String toString() {
            return order + ", by " + group + " in process " + process + " at epoch " + epoch;
        }
    }

    private final long process = ProcessHandle.current().pid();
    private final Path file;
    private final MappedByteBuffer tickets;

    Notes(Path directory) throws IOException {
        file = directory.resolve("process-" + process + ".notes");
        try (FileChannel counter = FileChannel.open(directory.resolve("tickets"), CREATE, READ, WRITE)) {
            tickets = counter.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES);
        }
    }

    long ticket() {
        return (long) COUNTER.getAndAdd(tickets, 0, 1L);
    }

    void write(Delivery<Order> delivery, boolean failed, long began) throws IOException {
        Note note = new Note(delivery.group(), delivery.payload(), process, delivery.epoch(), failed, began, ticket());
        Files.writeString(file, JSON.writeValueAsString(note) + "\n", CREATE, APPEND);
    }

    /** The notes of all processes. What was cut off in the middle was not written. */
    static List<Note> read(Path directory) throws IOException {
        List<Note> notes = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.notes")) {
            for (Path file : files) {
                String text = Files.readString(file);
                text.substring(0, text.lastIndexOf('\n') + 1)
                        .lines()
                        .forEach(line -> notes.add(JSON.readValue(line, Note.class)));
            }
        }
        return notes;
    }

    static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
