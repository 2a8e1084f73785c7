package dev.trunkline.faults;

import dev.trunkline.Message;
import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Content;
import dev.trunkline.checker.Event.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A publish with idempotency keys whose publisher did not live to hear how it ended. The one that follows it sends it again.
 *
 * @param contents that were to be published together
 */
record Unanswered(List<Content> contents) {

    /** In every value that is published with an idempotency key, and in no other. */
    static final String MARK = ".once";

    /** How idempotency keys begin: nobody but publishers says that. */
    static final String KEY = "once:";

    /** By the journal of a publisher. */
    static List<Unanswered> of(Path journals, String publisher) {
        Map<String, List<Content>> open = new LinkedHashMap<>();
        each(journals, publisher, event -> {
            if (event instanceof Event.Publish publish && publish.value().contains(MARK)) {
                open.computeIfAbsent(publish.call(), call -> new ArrayList<>())
                        .add(new Content(publish.key(), publish.value()));
            } else if (event instanceof Event.End end) {
                open.remove(end.call());
            }
        });
        return new ArrayList<>(open.values().stream().map(Unanswered::new).toList());
    }

    /** Whether another publisher was told that it is there. */
    boolean isAnswered(Path journals, String publisher) {
        Set<String> calls = new HashSet<>();
        Set<String> answered = new HashSet<>();
        each(journals, publisher, event -> {
            if (event instanceof Event.Publish publish
                    && publish.value().equals(contents.getFirst().value())) {
                calls.add(publish.call());
            } else if (event instanceof Event.End end && end.outcome() == Outcome.OK) {
                answered.add(end.call());
            }
        });
        return calls.stream().anyMatch(answered::contains);
    }

    /** What makes it one message. */
    static Message withKey(Message message) {
        return message.withIdempotencyKey(KEY + message.payload());
    }

    private static void each(Path journals, String publisher, Consumer<Event> consumer) {
        try {
            Deeds.eachOf(journals.resolve(publisher + ".journal"), consumer);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
