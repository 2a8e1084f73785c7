package dev.trunkline.server.http;

import java.time.Instant;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ser.std.StdSerializer;

/** Writes times as {@link Instant#toString} does. Messages have two each, and most of a batch are of the same second: that is put into words once. */
final class InstantWriter extends StdSerializer<Instant> {

    private volatile Second last = Second.of(0);

    private record Second(long epoch, String text) {

        static Second of(long epoch) {
            String text = Instant.ofEpochSecond(epoch).toString();
            return new Second(epoch, text.substring(0, text.length() - 1));
        }
    }

    InstantWriter() {
        super(Instant.class);
    }

    @Override
    public void serialize(Instant time, JsonGenerator out, SerializationContext context) {
        out.writeString(text(time));
    }

    String text(Instant time) {
        Second second = last;
        if (second.epoch != time.getEpochSecond()) {
            second = Second.of(time.getEpochSecond());
            last = second;
        }
        return second.text + fraction(time.getNano()) + "Z";
    }

    /** In thousandths, millionths or billionths, whichever are enough. */
    private static String fraction(int nanos) {
        if (nanos == 0) {
            return "";
        }
        String digits = Integer.toString(1_000_000_000 + nanos);
        int end = nanos % 1_000_000 == 0 ? 4 : nanos % 1_000 == 0 ? 7 : 10;
        return "." + digits.substring(1, end);
    }
}
