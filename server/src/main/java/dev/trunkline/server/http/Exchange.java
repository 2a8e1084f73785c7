package dev.trunkline.server.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Fields;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.ObjectWriter;

/** A request and its answer. */
final class Exchange {

    static final String JSON = "application/json";
    static final String LINES = "application/x-ndjson";

    /** Leaves where it is written to, and what is not written yet, to who knows whether that is all. */
    private static final ObjectWriter WHOLE = Json.MAPPER
            .writer()
            .withoutFeatures(StreamWriteFeature.AUTO_CLOSE_TARGET, StreamWriteFeature.FLUSH_PASSED_TO_STREAM);

    private static final long MOST_DISCARDED = 1024 * 1024;
    /** In which a body is to come, or a line of one that is endless. */
    static final Duration LONGEST = Duration.ofSeconds(30);

    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(60);
    /** As JSON has them: there are other digits, and other signs. */
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+");

    private static final Duration MOMENT = Duration.ofSeconds(2);

    private final Request request;
    private final Response response;
    private final long mostBytes;
    private final Body body;
    private final Room.Share share;
    private Map<String, String> path = Map.of();
    private Caller caller = Caller.ANYBODY;
    private Leave leave = () -> true;
    private @Nullable Noting noting;
    private @Nullable Fields query;

    Exchange(Request request, Response response, long mostBytes, Room.Share share) {
        this.request = request;
        this.response = response;
        this.mostBytes = mostBytes;
        this.body = new Body(request);
        this.share = share;
    }

    /** What is asked for is known. */
    void found(Router.Found found) {
        path = found.path();
        RequestMeter.note(request, found.route());
    }

    /** Whether a caller may still do what he asked for. */
    @FunctionalInterface
    interface Leave {
        boolean holds() throws SQLException;
    }

    void allow(Caller who, Leave asLongAs) {
        caller = who;
        leave = asLongAs;
    }

    /** Who asks. */
    Caller caller() {
        return caller;
    }

    /** Whether the caller may still do it: what he shows is good for a while, and may be revoked. To be asked by what takes long. */
    boolean isStillAllowed() throws SQLException {
        try {
            return leave.holds();
        } catch (Problem e) {
            if (e.status() == 401) {
                return false;
            }
            throw e;
        }
    }

    /** @throws Problem if he may not, or nobody can say */
    void requireStillAllowed() {
        boolean allowed;
        try {
            allowed = isStillAllowed();
        } catch (SQLException e) {
            throw Problem.of(e).orElseThrow(() -> new IllegalStateException(e));
        }
        if (!allowed) {
            throw new Problem(401, "this key was good when you began, and is not any more");
        }
    }

    // ---- what is asked ----

    String method() {
        return request.getMethod();
    }

    /** The path as it was sent; empty if there was none. */
    String rawPath() {
        String sent = request.getHttpURI().getPath();
        return sent == null ? "" : sent;
    }

    /** What the caller calls this server; empty if he does not. */
    String host() {
        String host = request.getHttpURI().getHost();
        return host == null ? "" : host;
    }

    /** A part of the path. */
    String path(String name) {
        String value = path.get(name);
        if (value == null) {
            throw new IllegalStateException("the route has no {" + name + "}");
        }
        return value;
    }

    /** Refuses what nothing can be called by. */
    void requireNames() {
        for (String name : List.of("topic", "group")) {
            if (has(name)) {
                Said.name(name, path(name));
            }
        }
    }

    boolean has(String name) {
        return path.containsKey(name);
    }

    /** A number in the path. */
    long number(String name) {
        return number(name, path(name));
    }

    Optional<String> header(String name) {
        HttpField field = request.getHeaders().getField(name);
        return Optional.ofNullable(field).map(HttpField::getValue);
    }

    /** A header that means one thing: given twice, it is refused. */
    Optional<String> single(String name) {
        List<String> values = request.getHeaders().getValuesList(name);
        Problem.require(values.size() <= 1, name, "it is given twice");
        return values.stream().findFirst();
    }

    /** The memory that it may take. */
    Room.Share share() {
        return share;
    }

    /** How long a body, or a line of one, may be. */
    long mostBytes() {
        return mostBytes;
    }

    /** Refuses what a route does not know: a misspelt name would be passed over else. */
    void requireKnown(List<Parameter> known) {
        Set<String> names = known.stream().map(Parameter::name).collect(Collectors.toSet());
        for (String name : query().getNames()) {
            if (!names.contains(name)) {
                throw Problem.of(name, "there is no parameter \"" + name + "\" here");
            }
            if (query().getValues(name).size() > 1) {
                throw Problem.of(name, "\"" + name + "\" is given twice");
            }
        }
    }

    Optional<String> text(Parameter parameter) {
        Optional<String> text = Optional.ofNullable(query().getValue(parameter.name()));
        if (text.isPresent()
                && !parameter.words().isEmpty()
                && !parameter.words().contains(text.get())) {
            throw Problem.of(parameter.name(), "\"" + text.get() + "\" is none of " + parameter.words());
        }
        return text;
    }

    long number(Parameter parameter) {
        Optional<String> text = text(parameter);
        if (text.isEmpty()) {
            return parameter.otherwise();
        }
        long value = number(parameter.name(), text.get());
        if (value < parameter.least() || value > parameter.most()) {
            throw Problem.of(
                    parameter.name(),
                    "it is between " + parameter.least() + " and " + parameter.most() + ", not " + value);
        }
        return value;
    }

    private static long number(String name, String text) {
        try {
            Problem.require(NUMBER.matcher(text).matches(), name, "\"" + text + "\" is no number");
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw Problem.of(name, text + " is out of bounds");
        }
    }

    private Fields query() {
        Fields fields = query;
        if (fields == null) {
            try {
                fields = Request.extractQueryParameters(request, StandardCharsets.UTF_8);
            } catch (RuntimeException e) {
                throw Problem.of("query", "the query can not be read: it is not UTF-8, percent-encoded");
            }
            query = fields;
        }
        return fields;
    }

    /** What the body is said to be, without parameters; JSON if nothing is said. */
    String contentType() {
        String type = request.getHeaders().get(HttpHeader.CONTENT_TYPE);
        return type == null ? JSON : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    }

    /** The body, as far as it may go. */
    private InputStream body() {
        long length = request.getLength();
        if (length > mostBytes) {
            throw Body.tooLong(mostBytes);
        }
        share.take(Room.HEARD * (length < 0 ? mostBytes : length));
        return body.limited(mostBytes, LONGEST);
    }

    /**
     * Before a refusal: a body that is not read to its end would spoil what the caller sends next on the same connection. Of one that is long, or does not come,
     * not more is read: then the connection ends, and who is still sending may not hear why.
     */
    void discardBody() {
        boolean endless = request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING);
        try {
            if (!endless && !body.isLate() && request.getLength() <= MOST_DISCARDED) {
                body.limited(MOST_DISCARDED, MOMENT).transferTo(OutputStream.nullOutputStream());
                return;
            }
        } catch (Problem | IOException notToBeHad) {
            // It is the same as one that is too long.
        }
        response.getHeaders().put(HttpHeader.CONNECTION, "close");
    }

    /**
     * The body, however long it is. Whoever reads it keeps none of it.
     *
     * @param beforeWaiting what is done when nothing of it is there
     * @param until when it is not waited for any more
     */
    InputStream endlessBody(Runnable beforeWaiting, BooleanSupplier until) {
        return body.endless(LONGEST_SILENCE, beforeWaiting, until);
    }

    /** Is told what a body says, before anything is done about it. */
    @FunctionalInterface
    interface Noting {
        void of(Object body) throws SQLException;
    }

    void note(Noting how) {
        noting = how;
    }

    /** The body as JSON. */
    <T> T body(Class<T> type) throws SQLException {
        requireJson();
        T said;
        try {
            said = type.cast(required(Json.MAPPER.readerFor(type).readValue(new Utf8(body()))));
        } catch (JacksonException e) {
            throw Json.problem(e);
        }
        if (noting != null) {
            noting.of(said);
        }
        return said;
    }

    /** The body as JSON: a value, or an array of several. Some may be null. */
    <T> List<@Nullable T> bodies(Class<T> type) {
        requireJson();
        try (JsonParser parser = Json.MAPPER.createParser(new Utf8(body()))) {
            if (parser.nextToken() != JsonToken.START_ARRAY) {
                return List.of(type.cast(required(Json.MAPPER.readerFor(type).readValue(parser))));
            }
            List<@Nullable T> values = new ArrayList<>();
            for (Object value : (List<?>) Json.MAPPER.readerForListOf(type).readValue(parser)) {
                values.add(type.cast(value));
            }
            return values;
        } catch (JacksonException e) {
            throw Json.problem(e);
        }
    }

    private void requireJson() {
        if (!contentType().equals(JSON)) {
            throw new Problem(
                            415,
                            "the body is to be " + JSON + ", not " + contentType()
                                    + ": say so in Content-Type (curl: --json)")
                    .with("field", "Content-Type");
        }
    }

    private static Object required(@Nullable Object value) {
        if (value == null) {
            throw Problem.badRequest("the body is null");
        }
        return value;
    }

    // ---- what is answered ----

    void answer(int status, @Nullable Object value) throws IOException {
        response.setStatus(status);
        if (value == null) {
            return;
        }
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, JSON);
        Outlet out = new Outlet(request, response);
        WHOLE.writeValue(out, value);
        out.close();
    }

    void answer(int status, String contentType, byte[] bytes) throws IOException {
        response.setStatus(status);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, contentType);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, bytes.length);
        Outlet out = new Outlet(request, response);
        out.write(bytes);
        out.close();
    }

    void header(HttpHeader name, String value) {
        response.getHeaders().put(name, value);
    }

    /** An answer that goes on. It is sent as it is flushed. */
    OutputStream stream(String contentType) {
        response.setStatus(200);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, contentType);
        response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        return new Outlet(request, response);
    }

    int status() {
        return response.getStatus();
    }

    boolean isAnswered() {
        return response.isCommitted();
    }
}
