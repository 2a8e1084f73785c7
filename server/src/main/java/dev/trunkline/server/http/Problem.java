package dev.trunkline.server.http;

import dev.trunkline.ClosedException;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.DatabaseUnavailableException;
import dev.trunkline.IncompatibleDatabaseException;
import dev.trunkline.InvalidMessageException;
import dev.trunkline.InvalidTopicException;
import dev.trunkline.LeaseExpiredException;
import dev.trunkline.NoSubscriptionsException;
import dev.trunkline.OffsetOutOfRangeException;
import dev.trunkline.OutcomeUnknownException;
import dev.trunkline.PayloadTooLargeException;
import dev.trunkline.TopicExistsException;
import dev.trunkline.TrunklineException;
import dev.trunkline.UnknownTopicException;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.eclipse.jetty.http.HttpStatus;
import org.postgresql.util.PSQLException;

/** Why a request is refused, as RFC 9457 has it. */
final class Problem extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Codes of functions of ours that refuse something. */
    private static final String REFUSED = "TL";
    /** No connection, no resources, shut down. */
    private static final List<String> AWAY = List.of("08", "53", "57P");

    static final String ALLOW = "allow";

    private final int status;
    private final transient Map<String, Object> more = new LinkedHashMap<>();

    Problem(int status, String detail) {
        super(detail, null, false, false);
        this.status = status;
    }

    static Problem badRequest(String detail) {
        return new Problem(HttpStatus.BAD_REQUEST_400, detail);
    }

    /** Something is wrong with a part of the request. */
    static Problem of(String field, String detail) {
        return badRequest(detail).with("field", field);
    }

    /** Refuses a field that is not as it must be. */
    static void require(boolean good, String field, String detail) {
        if (!good) {
            throw of(field, detail);
        }
    }

    static Problem tooLarge(PayloadTooLargeException e, String field) {
        return new Problem(HttpStatus.PAYLOAD_TOO_LARGE_413, String.valueOf(e.getMessage())).with("field", field);
    }

    /** One more thing to know. */
    Problem with(String name, Object value) {
        more.put(name, value);
        return this;
    }

    int status() {
        return status;
    }

    /** Of 405: what is allowed instead. */
    String allowed() {
        return more.get(ALLOW) instanceof List<?> methods
                ? methods.stream().map(String::valueOf).collect(Collectors.joining(", "))
                : "";
    }

    /** The document. */
    Map<String, Object> document() {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("type", "about:blank");
        document.put("title", HttpStatus.getMessage(status));
        document.put("status", status);
        document.put("detail", String.valueOf(getMessage()));
        document.putAll(more);
        return document;
    }

    /** What an exception means to a caller; empty: it is our mistake. */
    static Optional<Problem> of(Exception e) {
        return switch (e) {
            case SQLException sql -> of(sql);
            case Problem problem -> Optional.of(problem);
            case LeaseExpiredException late ->
                Optional.of(new Problem(HttpStatus.CONFLICT_409, String.valueOf(late.getMessage()))
                        .with("epoch", late.epoch()));
            case UnknownTopicException unknown ->
                Optional.of(new Problem(HttpStatus.NOT_FOUND_404, String.valueOf(unknown.getMessage()))
                        .with("field", "topic"));
            case OutcomeUnknownException unknown ->
                // It may be there or not: the same request with an idempotency key is safe.
                Optional.of(new Problem(HttpStatus.SERVICE_UNAVAILABLE_503, String.valueOf(unknown.getMessage()))
                        .with("outcome", "unknown"));
            case TrunklineException known ->
                status(known).map(status -> new Problem(status, String.valueOf(known.getMessage())));
            case IllegalArgumentException wrong -> Optional.of(badRequest(String.valueOf(wrong.getMessage())));
            default -> Optional.empty();
        };
    }

    /** Of our own statements: what the functions refuse has a code of ours; else the database is away, or busy. */
    private static Optional<Problem> of(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        if (state.startsWith(REFUSED)) {
            String said = e instanceof PSQLException refusal && refusal.getServerErrorMessage() != null
                    ? refusal.getServerErrorMessage().getMessage()
                    : e.getMessage();
            return Optional.of(badRequest(String.valueOf(said)));
        }
        boolean away = e instanceof SQLTransientException || AWAY.stream().anyMatch(state::startsWith);
        return away
                ? Optional.of(
                        new Problem(HttpStatus.SERVICE_UNAVAILABLE_503, "the database does not answer: try again"))
                : Optional.empty();
    }

    private static Optional<Integer> status(TrunklineException e) {
        return switch (e) {
            case TopicExistsException exists -> Optional.of(HttpStatus.CONFLICT_409);
            case NoSubscriptionsException unheard -> Optional.of(HttpStatus.CONFLICT_409);
            case PayloadTooLargeException large -> Optional.of(HttpStatus.PAYLOAD_TOO_LARGE_413);
            case OffsetOutOfRangeException out -> Optional.of(HttpStatus.RANGE_NOT_SATISFIABLE_416);
            case InvalidMessageException invalid -> Optional.of(HttpStatus.BAD_REQUEST_400);
            case InvalidTopicException invalid -> Optional.of(HttpStatus.BAD_REQUEST_400);
            case ConsumerGroupException group -> Optional.of(HttpStatus.CONFLICT_409);
            case DatabaseUnavailableException away -> Optional.of(HttpStatus.SERVICE_UNAVAILABLE_503);
            case ClosedException closed -> Optional.of(HttpStatus.SERVICE_UNAVAILABLE_503);
            // A standby, or a restore that nobody has opened yet.
            case IncompatibleDatabaseException other -> Optional.of(HttpStatus.SERVICE_UNAVAILABLE_503);
            default -> Optional.empty();
        };
    }
}
