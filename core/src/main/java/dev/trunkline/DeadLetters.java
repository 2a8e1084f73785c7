package dev.trunkline;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What one group has given up. To redrive or discard is an intent: the process that owns the partition carries it out within seconds. */
public interface DeadLetters {

    /** Dead letters in the order of their ids, after one of them; 0 for the first page. */
    List<DeadLetter> list(long afterId, int most);

    Optional<DeadLetter> find(long id);

    /**
     * Changes what one says, so that it can be handled when it is redriven. Its key and its place stay.
     *
     * @throws ConsumerGroupException if there is none with this id, or it is decided
     */
    void edit(long id, byte[] payload, String contentType, Map<String, String> headers);

    /** Has these handled again, with all their attempts; the messages that wait behind one on its key follow, in order. How many there were. */
    long redrive(Collection<Long> ids);

    /** Has all of them handled again. */
    long redriveAll();

    /** Removes these for good; the messages that wait behind one on its key go on without it. How many there were. */
    long discard(Collection<Long> ids);

    /** Removes all of them. */
    long discardAll();
}
