package dev.trunkline.server.doctor;

import dev.trunkline.Trunkline;
import dev.trunkline.server.doctor.Check.Look;
import dev.trunkline.server.doctor.Check.NotChecked;
import dev.trunkline.server.doctor.Diagnosis.State;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** All checks. */
final class Doctor {

    static final String SCHEMA = "schema";

    private static final int OLDEST = 15;
    private static final int NEWEST = 18;
    private static final Duration SKEW = Duration.ofSeconds(2);
    private static final int HEAR_MILLIS = 5_000;
    /** Few enough that the driver prepares nothing at the server, which a pooler would lose. */
    private static final int ROUNDS = 3;

    private static final String NOTHING = "a connection";
    private static final String READER = "membership in the role SCHEMA_reader (or SCHEMA_app)";
    private static final String MONITOR = "membership in the role pg_monitor";

    private static final String NO_RIGHT = "42501";
    private static final String QUEUE_FULL = "54000";
    /** Something is not there: the schema is older, or there is none. */
    private static final List<String> UNDEFINED = List.of("42P01", "42883", "42703", "3F000");

    /** In this order: what explains others comes first. */
    static final List<Check> CHECKS = List.of(
            new Check(
                    "server version",
                    "Trunkline is tested with PostgreSQL " + OLDEST + " to " + NEWEST + " only",
                    "use one of these",
                    NOTHING,
                    patient -> version(Integer.parseInt(patient.texts("version").getFirst()))),
            new Check(
                    "standby",
                    "nothing can be published or recorded here",
                    "connect to the primary (targetServerType=primary in the URL)",
                    NOTHING,
                    found("standby")),
            new Check(
                    "settings",
                    "what was acknowledged is lost when the server or its machine goes down; without fsync or full pages, perhaps everything",
                    "turn them on, in postgresql.conf or by alter system",
                    NOTHING,
                    found("settings")),
            new Check(
                    SCHEMA,
                    "the library refuses to open a schema that is not its own version",
                    "run trunkline migrate, or use a newer trunkline if the schema is newer",
                    READER,
                    Doctor::schema),
            new Check(
                    "restored",
                    "nothing is published or relayed before it is adopted: transaction ids mean something else here",
                    "open it once with a process that may write, such as trunkline topics list",
                    READER,
                    found("restored")),
            new Check(
                    "pooler",
                    "there is a pooler in transaction mode in between: what is published by others is noticed late",
                    "give processes a direct URL too (Builder.directUrl), or use session mode",
                    NOTHING,
                    Doctor::pooler),
            new Check(
                    "notifications",
                    "all works, but what others publish is noticed at the poll interval only",
                    "connect directly, not through a pooler or proxy; look for a full notification queue",
                    NOTHING,
                    Doctor::notifications),
            new Check(
                    "notification queue",
                    "once it is full nobody can notify, in all databases of the server: what others publish is noticed late, and relaying in SQL alone fails",
                    "a session that listens keeps a transaction open; the server's log names its pid: end it with pg_terminate_backend(pid)",
                    NOTHING,
                    found("queue")),
            new Check(
                    "clock",
                    "times of one and the other differ: in logs, delays, and where groups start by time",
                    "let both machines set their clocks by NTP",
                    NOTHING,
                    Doctor::clock),
            new Check(
                    "transactions",
                    "vacuum can not remove what is newer: all tables of the database grow, and reads get slower",
                    "find out what it waits for; end it with pg_terminate_backend(pid), or rollback prepared",
                    MONITOR,
                    Doctor::transactions),
            new Check(
                    "replication slots",
                    "vacuum and the removal of WAL wait for them: the disk may fill up",
                    "let its consumer run again, or drop it with pg_drop_replication_slot",
                    NOTHING,
                    found("slots")),
            new Check(
                    "background work",
                    "no process relays or does upkeep: what goes through the outbox is not delivered, and nothing old is dropped",
                    "let a process run with background work, or trunkline serve",
                    READER,
                    found("nobody")),
            new Check(
                    "outbox",
                    "messages are committed and not delivered",
                    "see that a process with background work runs, and look at its log for errors of the relay",
                    READER,
                    patient -> patient.texts("backlog", patient.patienceSeconds())),
            new Check(
                    "upkeep",
                    "old segments are not dropped: storage grows",
                    "look at the log of the process that does the upkeep; something may hold locks on segments",
                    READER,
                    found("behind")),
            new Check(
                    "retention",
                    "messages are kept beyond their retention, for a group that has not done them",
                    "let the group work, or seek or cancel it; hard_cap and zombie_ttl of the topic limit this",
                    READER,
                    found("pinned")),
            new Check(
                    "groups",
                    "their messages are not handled",
                    "start their processes, or look at what their handlers do; see trunkline groups and lag",
                    READER,
                    found("groups")),
            new Check(
                    "unheard topics",
                    "nobody gets their messages, which are dropped in the end",
                    "start a group, or drop the topic",
                    READER,
                    found("unheard")),
            new Check(
                    "bloat",
                    "these tables should be small: reading and writing them gets slower",
                    "see transactions above; then let autovacuum run, or vacuum full them when it is quiet",
                    NOTHING,
                    patient -> patient.texts("bloat", patient.address().schema())));

    private Doctor() {}

    static Diagnosis examine(Check check, Patient patient) throws SQLException {
        try {
            List<String> found = check.look().at(patient);
            return new Diagnosis(
                    check.name(),
                    found.isEmpty() ? State.OK : State.WRONG,
                    found,
                    check.meaning(),
                    check.advice(),
                    null);
        } catch (NotChecked e) {
            return notChecked(check, patient, e.needs());
        } catch (SQLException e) {
            String state = e.getSQLState() == null ? "" : e.getSQLState();
            if (NO_RIGHT.equals(state)) {
                return notChecked(check, patient, check.needs());
            }
            if (UNDEFINED.contains(state)) {
                return notChecked(check, patient, "the schema at version " + Trunkline.schemaVersion());
            }
            if (patient.connection().isClosed()) {
                throw e;
            }
            return notChecked(check, patient, "an answer; the server says: " + said(e));
        }
    }

    private static String said(SQLException e) {
        String why = e.getMessage() == null ? e.toString() : e.getMessage();
        return why.lines().findFirst().orElse(why);
    }

    private static Diagnosis notChecked(Check check, Patient patient, String needs) {
        String here = needs.replace("SCHEMA", patient.address().schema());
        return new Diagnosis(check.name(), State.NOT_CHECKED, List.of(), check.meaning(), check.advice(), here);
    }

    private static Look found(String statement) {
        return patient -> patient.texts(statement);
    }

    static List<String> version(int major) {
        return major >= OLDEST && major <= NEWEST ? List.of() : List.of("this is PostgreSQL " + major);
    }

    private static List<String> schema(Patient patient) throws SQLException {
        int version = patient.address().version(patient.connection());
        String schema = "schema " + patient.address().schema();
        if (version == 0) {
            return List.of("there is no " + schema);
        }
        int needed = Trunkline.schemaVersion();
        return version == needed
                ? List.of()
                : List.of(schema + " is at version " + version + ", this trunkline needs " + needed);
    }

    /** Two connections that live at the same time never have one process of the server, and each keeps its own. */
    private static List<String> pooler(Patient patient) throws SQLException {
        try (Connection one = patient.address().connect();
                Connection other = patient.address().connect()) {
            String mine = patient.texts(one, "backend").getFirst();
            for (int round = 0; round < ROUNDS; round++) {
                String theirs = patient.texts(other, "backend").getFirst();
                String mineNow = patient.texts(one, "backend").getFirst();
                // Once more: a pooler that gives its two processes in turn would give each of us always the same.
                String mineAgain = patient.texts(one, "backend").getFirst();
                if (theirs.equals(mineNow) || !mineNow.equals(mine) || !mineAgain.equals(mine)) {
                    return List.of("connections share the processes of the server");
                }
            }
            return List.of();
        }
    }

    private static List<String> notifications(Patient patient) throws SQLException {
        String word = UUID.randomUUID().toString();
        try (Connection listener = patient.address().connect()) {
            patient.texts(listener, "listen");
            try {
                patient.texts("notify", word);
            } catch (SQLException e) {
                if (QUEUE_FULL.equals(e.getSQLState())) {
                    return List.of("none can be sent: " + said(e));
                }
                throw e;
            }
            boolean arrived = hears(listener.unwrap(PGConnection.class), word);
            patient.texts(listener, "unlisten"); // a pooler would keep it listening
            return arrived ? List.of() : List.of("a notification has not arrived");
        }
    }

    private static boolean hears(PGConnection ears, String word) throws SQLException {
        long deadline = System.nanoTime() + Duration.ofMillis(HEAR_MILLIS).toNanos();
        for (long left = HEAR_MILLIS; left > 0; left = (deadline - System.nanoTime()) / 1_000_000) {
            PGNotification[] heard = ears.getNotifications((int) left);
            if (heard != null
                    && Stream.of(heard).anyMatch(each -> each.getParameter().equals(word))) {
                return true;
            }
        }
        return false;
    }

    /** It may be off by as long as the answer takes: only what is beyond that counts. */
    private static List<String> clock(Patient patient) throws SQLException {
        Instant before = patient.clock().instant();
        double server = Double.parseDouble(patient.texts("clock").getFirst());
        Instant after = patient.clock().instant();
        Instant there = Instant.ofEpochMilli(Math.round(server * 1_000));
        Duration behind = Duration.between(after, there);
        Duration ahead = Duration.between(there, before);
        Duration skew = behind.compareTo(ahead) > 0 ? behind : ahead;
        return skew.compareTo(SKEW) <= 0
                ? List.of()
                : List.of("the server's clock is " + skew.toSeconds() + " seconds "
                        + (behind.equals(skew) ? "ahead of" : "behind") + " this machine's");
    }

    private static List<String> transactions(Patient patient) throws SQLException, NotChecked {
        double seconds = patient.patienceSeconds();
        List<String> found = patient.texts("transactions", seconds, seconds);
        if (found.isEmpty() && !patient.texts("seesAll").getFirst().equals("t")) {
            throw new NotChecked(MONITOR);
        }
        return found;
    }
}
