package dev.trunkline.server.http;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Who has decided what. Never what a message or a key says. */
final class Decisions {

    private static final Logger log = LoggerFactory.getLogger(Decisions.class);
    private static final int LONGEST = 2_000;

    private final DataSource source;
    private final String schema;

    Decisions(DataSource source, String schema) {
        this.source = source;
        this.schema = schema;
    }

    /**
     * Something that was decided.
     *
     * @param what the route
     * @param target the path, as it was sent, and what was said with it
     * @param status what was answered; null if that is not known
     */
    record Decision(
            long id,
            Instant at,
            String who,
            String what,
            String target,
            @Nullable Integer status) {}

    Route route() {
        return Route.of("GET", "/v1/audit", Verb.ADMIN, "lists who has decided what", this::list)
                .query(Page.AFTER, Page.LIMIT)
                .answers(Route.OK, Page.of(Decision.class));
    }

    /** Does it. Before that it is noted, with what the body says, if there is to be one: what nobody can be held to does not happen. Then, what was answered. */
    void carryOut(Exchange exchange, Caller who, Route what) throws Exception {
        String path = exchange.rawPath();
        AtomicReference<@Nullable Long> noted = new AtomicReference<>();
        if (what.bodies().isEmpty()) {
            noted.set(note(who.name(), what, path));
        } else {
            exchange.note(body -> noted.set(note(who.name(), what, path + " " + said(body))));
        }
        int status = 500;
        try {
            what.action().on(exchange);
            status = exchange.status();
        } catch (Exception e) {
            status = Problem.of(e).map(Problem::status).orElse(status);
            throw e;
        } finally {
            Long id = noted.get();
            if (id != null) {
                noteAnswer(id, status);
            }
        }
    }

    /** It is done, or refused: that nobody could write it down does not change that. */
    private void noteAnswer(long id, int status) {
        try (Connection connection = source.getConnection();
                PreparedStatement call = connection.prepareStatement("select " + schema + ".note_answer(?, ?)")) {
            call.setLong(1, id);
            call.setInt(2, status);
            call.execute();
        } catch (SQLException e) {
            log.warn("could not note that decision {} was answered with {}", id, status, e);
        }
    }

    /** What was said, without what a message is to say. */
    private static String said(Object body) {
        Object shown = body instanceof Discreet discreet ? discreet.withoutPayload() : body;
        // Half a character can not be stored.
        String said = new String(Json.SHORT.writeValueAsBytes(shown), StandardCharsets.UTF_8);
        return said.length() <= LONGEST ? said : said.substring(0, LONGEST) + "…";
    }

    /** A body that says what a message is to say. */
    interface Discreet {
        Object withoutPayload();
    }

    private long note(String who, Route what, String target) throws SQLException {
        try (Connection connection = source.getConnection();
                PreparedStatement call = connection.prepareStatement("select " + schema + ".note_decision(?, ?, ?)")) {
            call.setString(1, who);
            call.setString(2, what.toString());
            call.setString(3, target);
            try (ResultSet row = call.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private void list(Exchange exchange) throws Exception {
        long after = exchange.number(Page.AFTER);
        int limit = (int) exchange.number(Page.LIMIT);
        List<Decision> found = new ArrayList<>();
        try (Connection connection = source.getConnection();
                PreparedStatement query =
                        connection.prepareStatement("select a.id, a.at, a.who, a.what, a.target, a.status from "
                                + schema + ".audit_log a where a.id > ? order by a.id limit ?")) {
            query.setLong(1, after);
            query.setInt(2, limit + 1);
            try (ResultSet row = query.executeQuery()) {
                while (row.next()) {
                    found.add(new Decision(
                            row.getLong(1),
                            row.getObject(2, OffsetDateTime.class).toInstant(),
                            row.getString(3),
                            row.getString(4),
                            row.getString(5),
                            row.getObject(6, Integer.class)));
                }
            }
        }
        exchange.answer(Route.OK, Page.of(found, limit, decision -> "" + decision.id()));
    }
}
