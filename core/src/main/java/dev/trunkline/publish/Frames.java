package dev.trunkline.publish;

import dev.trunkline.Receipt;
import dev.trunkline.outbox.Columns;
import dev.trunkline.outbox.Encoded;
import java.io.ByteArrayOutputStream;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A batch as the log keeps it: its messages by strand, in each in the order of the batch, and cut into frames. A frame is one
 * row of a segment.
 */
final class Frames {

    /** As {@code trunkline.frame_bytes()}. */
    private static final int MOST_BYTES = 3_700;

    private static final int BYTES_BESIDE_PAYLOAD = 40;
    private static final int LEVELS = 3;

    /** What the partitions of a topic are, which stay for its life, and offsets of its strands that are known to be taken. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Shape(int partitions, int lanes, long[] known) {
        Shape(int partitions, int lanes) {
            this(partitions, lanes, new long[partitions * LEVELS]);
        }
    }

    private final Shape shape;
    private final List<Encoded> messages;
    /** Twice the place in the batch of each message, from 1 on. */
    private final long[] ids;
    /** The id of the last message that belongs together with each; null: all stand alone. */
    private final long @Nullable [] units;

    private final int[] partitions;
    private final int[] lasts;
    private final int[] uptos;
    private final boolean[] opens;
    private final byte[][] payloads;

    Frames(List<Submission> batch, Shape shape) {
        this.shape = shape;
        List<Encoded> all = new ArrayList<>();
        batch.forEach(submission -> all.addAll(submission.messages()));
        int size = all.size();
        int[] strands = strands(all);
        long[] order = new long[size];
        for (int i = 0; i < size; i++) {
            order[i] = ((long) strands[i] << Integer.SIZE) + i;
        }
        Arrays.sort(order);
        long[] together = together(batch, size);
        ids = new long[size];
        units = batch.size() == size ? null : new long[size];
        int[] sortedStrands = new int[size];
        messages = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            int from = (int) order[i];
            messages.add(all.get(from));
            ids[i] = 2L * (from + 1);
            sortedStrands[i] = strands[from];
            if (units != null) {
                units[i] = together[from];
            }
        }

        lasts = cut(sortedStrands);
        partitions = new int[lasts.length];
        uptos = new int[lasts.length];
        opens = new boolean[lasts.length];
        payloads = new byte[lasts.length][];
        for (int frame = 0, first = 0; frame < lasts.length; first = lasts[frame++]) {
            int last = lasts[frame];
            partitions[frame] = sortedStrands[first];
            boolean goesOn = frame > 0 && partitions[frame - 1] == partitions[frame];
            uptos[frame] = (goesOn ? uptos[frame - 1] : 0) + last - first;
            opens[frame] = last < size
                    && units != null
                    && sortedStrands[last] == partitions[frame]
                    && units[last] == units[last - 1];
            payloads[frame] = join(messages.subList(first, last));
        }
    }

    /** For each message, the id of the last message of its submission. */
    private static long[] together(List<Submission> batch, int size) {
        long[] units = new long[size];
        int place = 0;
        for (Submission submission : batch) {
            int last = place + submission.size();
            Arrays.fill(units, place, last, 2L * last);
            place = last;
        }
        return units;
    }

    /**
     * The strand of each message: by its key (or idempotency key, where it has none: a retry must meet the first try). What has
     * neither goes frame by frame to the partitions of one lane in turn. If no message has a key, the database shall choose a
     * free lane, and the strand is a turn below zero.
     */
    private int[] strands(List<Encoded> all) {
        int[] strands = new int[all.size()];
        int home = -1;
        boolean placed = false;
        for (int i = 0; i < strands.length; i++) {
            Encoded message = all.get(i);
            String key = message.key() == null ? message.idempotencyKey() : message.key();
            strands[i] = key == null ? -1 : KeyHash.partitionOf(key, shape.partitions);
            home = Math.max(home, strands[i]);
            placed |= key != null || message.priority() != 0;
        }
        int lane = !placed
                ? -1
                : home >= 0 ? home % shape.lanes : ThreadLocalRandom.current().nextInt(shape.lanes);
        int turns = shape.partitions / shape.lanes;
        int bytes = 0;
        int turn = 0;
        for (int i = 0; i < strands.length; i++) {
            Encoded message = all.get(i);
            if (strands[i] < 0) {
                strands[i] = placed ? lane + shape.lanes * turn : -1 - turn;
                bytes += bytes(message);
                if (bytes > MOST_BYTES) {
                    bytes = 0;
                    turn = (turn + 1) % turns;
                }
            }
            strands[i] += shape.partitions * ((message.priority() + LEVELS) % LEVELS);
        }
        return strands;
    }

    private static int bytes(Encoded message) {
        return message.payload().length
                + (message.key() == null ? 0 : message.key().length())
                + BYTES_BESIDE_PAYLOAD;
    }

    private int[] cut(int[] strands) {
        int[] ends = new int[strands.length];
        int frames = 0;
        long bytes = 0;
        for (int i = 0; i < strands.length; i++) {
            bytes += bytes(messages.get(i));
            if (i > 0 && (strands[i] != strands[i - 1] || bytes > MOST_BYTES)) {
                ends[frames++] = i;
                bytes = bytes(messages.get(i));
            }
        }
        ends[frames++] = strands.length;
        return Arrays.copyOf(ends, frames);
    }

    private static byte[] join(List<Encoded> messages) {
        if (messages.size() == 1) {
            return messages.getFirst().payload();
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(2 * MOST_BYTES);
        messages.forEach(message -> bytes.writeBytes(message.payload()));
        return bytes.toByteArray();
    }

    /** Binds the parameters of {@code trunkline.append}. */
    void bind(PreparedStatement statement, boolean wait) throws SQLException {
        Columns columns = new Columns(messages);
        int[] lengths =
                messages.stream().mapToInt(message -> message.payload().length).toArray();
        statement.setString(1, messages.getFirst().topic());
        statement.setInt(2, shape.partitions);
        statement.setInt(3, shape.lanes);
        statement.setBoolean(4, wait);
        statement.setInt(5, Arrays.stream(lengths).max().orElse(0));
        statement.setObject(6, known());
        statement.setObject(7, partitions);
        statement.setObject(8, lasts);
        statement.setObject(9, uptos);
        statement.setObject(10, opens);
        Columns.bind(statement, 11, "bytea", payloads);
        statement.setObject(12, ids);
        statement.setObject(13, lengths);
        columns.bindText(statement, 14, Encoded::key);
        columns.bindText(statement, 15, Encoded::headers);
        columns.bindContentTypes(statement, 16);
        columns.bindText(statement, 17, Encoded::correlationId);
        columns.bindPriorities(statement, 18);
        columns.bindText(statement, 19, Encoded::due);
        columns.bindText(statement, 20, Encoded::idempotencyKey);
        statement.setObject(21, units);
    }

    /** Offsets that are taken, one for each strand of the batch, in their order; null if the database shall choose them. */
    private long @Nullable [] known() {
        return partitions[0] < 0
                ? null
                : Arrays.stream(partitions)
                        .distinct()
                        .mapToLong(strand -> shape.known[strand])
                        .toArray();
    }

    /**
     * The receipts of messages that went straight into the log, in the order of the batch.
     *
     * @param chosen the strands of the frames, as the database has chosen them
     * @param tails the last offsets before the batch, by strand
     * @param holders the ids of the messages that hold the idempotency keys of others, in the order of the frames; empty if none is used
     */
    List<Receipt> receipts(long baseId, Integer[] chosen, long[] tails, @Nullable Long[] holders) {
        Receipt[] receipts = new Receipt[messages.size()];
        int frame = 0;
        for (int i = 0; i < receipts.length; i++) {
            if (i == lasts[frame]) {
                frame++;
            }
            int strand = chosen[frame];
            Long holder = holders.length == 0 ? null : holders[i];
            String topic = messages.get(i).topic();
            receipts[(int) ids[i] / 2 - 1] = holder != null
                    ? new Receipt(topic, holder, OptionalInt.empty(), OptionalLong.empty(), true)
                    : new Receipt(
                            topic,
                            baseId + ids[i],
                            OptionalInt.of(strand % shape.partitions),
                            OptionalLong.of(++tails[strand]),
                            false);
        }
        for (int strand : chosen) {
            shape.known[strand] = tails[strand];
        }
        return Arrays.asList(receipts);
    }
}
