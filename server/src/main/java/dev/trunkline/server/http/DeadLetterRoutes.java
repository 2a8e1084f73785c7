package dev.trunkline.server.http;

import dev.trunkline.DeadLetter;
import dev.trunkline.DeadLetters;
import dev.trunkline.PayloadTooLargeException;
import dev.trunkline.Priority;
import dev.trunkline.Trunkline;
import dev.trunkline.server.Output;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What groups have given up. */
final class DeadLetterRoutes {

    private static final String LETTERS = "/v1/topics/{topic}/groups/{group}/dead-letters";
    private static final String LETTER = LETTERS + "/{id}";
    /** A page ends when its payloads have so many bytes. */
    private static final long MOST_BYTES = 16L << 20;

    private static final int AT_ONCE = 16;

    private final Trunkline trunkline;

    DeadLetterRoutes(Trunkline trunkline) {
        this.trunkline = trunkline;
    }

    List<Route> all() {
        return List.of(
                Route.of("GET", LETTERS, Verb.READ, "lists the dead letters of a group", this::list)
                        .query(Page.AFTER, Page.LIMIT)
                        .answers(Route.OK, Page.of(Letter.class)),
                Route.of("GET", LETTER, Verb.READ, "shows a dead letter", this::get)
                        .answers(Route.OK, Letter.class),
                Route.of(
                                "PATCH",
                                LETTER,
                                Verb.ADMIN,
                                "changes what a dead letter says; what is not said stays",
                                this::edit)
                        .takes(Edit.class)
                        .answers(Route.OK, Letter.class),
                deciding("redrive", "has dead letters handled again", true),
                deciding("discard", "drops dead letters for good", false));
    }

    private Route deciding(String what, String says, boolean redrive) {
        return Route.of("POST", LETTERS + "/" + what, Verb.ADMIN, says, exchange -> decide(exchange, redrive))
                .takes(Choice.class)
                .answers(Route.OK, Decided.class);
    }

    /** A dead letter as it is told. */
    record Letter(
            long id,
            int partition,
            Priority priority,
            long offset,
            long messageId,
            @Nullable String key,
            Map<String, String> headers,
            String contentType,
            @Nullable String text,
            @Nullable String base64,
            int attempts,
            String error,
            String stack,
            List<String> history,
            Instant buriedAt,
            boolean decided) {

        static Letter of(DeadLetter letter) {
            Optional<String> text = Output.text(letter.payload());
            return new Letter(
                    letter.id(),
                    letter.partition(),
                    letter.priority(),
                    letter.offset(),
                    letter.messageId(),
                    letter.key(),
                    letter.headers(),
                    letter.contentType(),
                    text.orElse(null),
                    text.isPresent() ? null : Base64.getEncoder().encodeToString(letter.payload()),
                    letter.attempts(),
                    letter.error(),
                    letter.stack(),
                    letter.history(),
                    letter.buriedAt(),
                    letter.decided());
        }
    }

    private DeadLetters letters(Exchange exchange) {
        Place place = Place.existing(exchange, trunkline);
        return trunkline
                .createConsumerGroup(place.group(), place.topic(), byte[].class)
                .deadLetters();
    }

    private void list(Exchange exchange) throws Exception {
        int limit = (int) exchange.number(Page.LIMIT);
        DeadLetters letters = letters(exchange);
        exchange.share().take(Room.PAGE);
        List<Letter> found = new ArrayList<>();
        long after = exchange.number(Page.AFTER);
        long bytes = 0;
        List<DeadLetter> some;
        do {
            some = letters.list(after, Math.min(AT_ONCE, limit - found.size()));
            for (DeadLetter letter : some) {
                found.add(Letter.of(letter));
                after = letter.id();
                bytes += letter.payload().length;
            }
        } while (!some.isEmpty() && found.size() < limit && bytes < MOST_BYTES);
        exchange.share().take(Room.TOLD * bytes);
        boolean more = !letters.list(after, 1).isEmpty();
        exchange.answer(Route.OK, new Page<>(found, more ? "" + after : null));
    }

    private void get(Exchange exchange) throws Exception {
        exchange.answer(Route.OK, Letter.of(letter(exchange, letters(exchange))));
    }

    private static DeadLetter letter(Exchange exchange, DeadLetters letters) {
        long id = exchange.number("id");
        return letters.find(id)
                .orElseThrow(
                        () -> new Problem(404, "there is no dead letter " + id + " of this group").with("field", "id"));
    }

    /** What a dead letter is to say; what is not said stays. */
    record Edit(
            @Nullable AnyJson payload,
            @Nullable String text,
            @Nullable String base64,
            @Nullable String contentType,
            @Nullable Map<String, String> headers)
            implements Decisions.Discreet {

        @Override
        public Edit withoutPayload() {
            return new Edit(null, null, null, contentType, null);
        }
    }

    private void edit(Exchange exchange) throws Exception {
        Edit edit = exchange.body(Edit.class);
        DeadLetters letters = letters(exchange);
        DeadLetter letter = letter(exchange, letters);
        Optional<Messages.Content> content = Messages.Content.of(edit.payload, edit.text, edit.base64);
        Map<String, String> headers = edit.headers == null ? letter.headers() : Said.headers(edit.headers);
        String type = edit.contentType != null
                ? Messages.contentType(edit.contentType)
                : content.map(Messages.Content::type).orElse(letter.contentType());
        try {
            letters.edit(letter.id(), content.map(Messages.Content::bytes).orElse(letter.payload()), type, headers);
        } catch (PayloadTooLargeException e) {
            throw Problem.tooLarge(e, edit.text != null ? "text" : edit.base64 != null ? "base64" : "payload");
        }
        exchange.answer(Route.OK, Letter.of(letter(exchange, letters)));
    }

    /** @param ids which dead letters; null: all */
    record Choice(@Nullable List<Long> ids) {}

    /** @param decided how many; the owners of their partitions carry it out within seconds */
    record Decided(long decided) {}

    private void decide(Exchange exchange, boolean redrive) throws Exception {
        Choice choice = exchange.body(Choice.class);
        DeadLetters letters = letters(exchange);
        if (choice.ids != null && choice.ids.contains(null)) {
            throw Problem.of("ids", "an id is null");
        }
        long decided;
        if (choice.ids == null) {
            decided = redrive ? letters.redriveAll() : letters.discardAll();
        } else {
            decided = redrive ? letters.redrive(choice.ids) : letters.discard(choice.ids);
        }
        exchange.answer(Route.OK, new Decided(decided));
    }
}
