package dev.trunkline.server.http;

import dev.trunkline.ClosedException;
import dev.trunkline.ConsumerGroupException;
import dev.trunkline.DatabaseUnavailableException;
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
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpStatus;

/** Why a request is refused, as RFC 9457 has it. */
final class Problem extends RuntimeException {

    private static final long serialVersionUID = 1L;

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

    /** One more thing to know. */
    Problem with(String name, Object value) {
        more.put(name, value);
        return this;
    }

    int status() {
        return status;
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

    /** What an exception of the library means to a caller; empty: it is our mistake. */
    static Optional<Problem> of(RuntimeException e) {
        return switch (e) {
            case Problem problem -> Optional.of(problem);
            case TrunklineException known ->
                status(known).map(status -> new Problem(status, String.valueOf(known.getMessage())));
            case IllegalArgumentException wrong -> Optional.of(badRequest(String.valueOf(wrong.getMessage())));
            default -> Optional.empty();
        };
    }

    private static Optional<Integer> status(TrunklineException e) {
        return switch (e) {
            case UnknownTopicException unknown -> Optional.of(HttpStatus.NOT_FOUND_404);
            case TopicExistsException exists -> Optional.of(HttpStatus.CONFLICT_409);
            case LeaseExpiredException expired -> Optional.of(HttpStatus.CONFLICT_409);
            case NoSubscriptionsException unheard -> Optional.of(HttpStatus.CONFLICT_409);
            case PayloadTooLargeException large -> Optional.of(HttpStatus.PAYLOAD_TOO_LARGE_413);
            case OffsetOutOfRangeException out -> Optional.of(HttpStatus.RANGE_NOT_SATISFIABLE_416);
            case InvalidMessageException invalid -> Optional.of(HttpStatus.BAD_REQUEST_400);
            case InvalidTopicException invalid -> Optional.of(HttpStatus.BAD_REQUEST_400);
            case ConsumerGroupException group -> Optional.of(HttpStatus.CONFLICT_409);
            // It may be there or not: the same request with an idempotency key is safe.
            case OutcomeUnknownException unknown -> Optional.of(HttpStatus.SERVICE_UNAVAILABLE_503);
            case DatabaseUnavailableException away -> Optional.of(HttpStatus.SERVICE_UNAVAILABLE_503);
            case ClosedException closed -> Optional.of(HttpStatus.SERVICE_UNAVAILABLE_503);
            default -> Optional.empty();
        };
    }
}
