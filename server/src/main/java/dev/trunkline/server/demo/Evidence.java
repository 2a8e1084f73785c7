package dev.trunkline.server.demo;

import dev.trunkline.server.demo.Accident.Loss;
import dev.trunkline.server.demo.Books.DeadLetter;
import dev.trunkline.server.demo.Notes.Note;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that is known when the demo is over.
 *
 * @param orders all that writers published, in the sequence of each, and also what they rolled back
 * @param rows the orders in the business table
 * @param parked how many messages of each group wait behind a dead letter of their key
 * @param holders how many partitions each process holds
 * @param loss empty if nobody was killed
 */
record Evidence(
        List<Order> orders,
        List<Note> notes,
        List<Order> rows,
        List<DeadLetter> deadLetters,
        Map<String, Long> parked,
        Map<Long, Integer> holders,
        Optional<Loss> loss) {}
