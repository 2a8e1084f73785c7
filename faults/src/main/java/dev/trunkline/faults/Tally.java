package dev.trunkline.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** What counts as an event of a trial: where publishers do the bad thing themselves, each time that one did. */
enum Tally {
    STRIKES,
    /** Transactions, of which each is late. */
    TRANSACTIONS,
    ROLLBACKS;

    /** @param strikes how often something was done to all */
    int count(int strikes, Path journals) throws IOException {
        if (this == STRIKES) {
            return strikes;
        }
        Set<String> transactions = new HashSet<>();
        Set<String> ended = new HashSet<>();
        try (Stream<Path> files = Files.list(journals)) {
            for (Path file : files.filter(path -> path.getFileName().toString().startsWith("publisher"))
                    .toList()) {
                try (Stream<String> lines = Files.lines(file)) {
                    lines.map(line -> List.of(line.split("\t", 4))).forEach(fields -> {
                        if (fields.size() > 2 && fields.get(1).equals("work")) {
                            transactions.add(fields.get(2));
                        } else if (fields.size() > 2 && fields.get(1).equals("failed")) {
                            ended.add(fields.get(2));
                        }
                    });
                }
            }
        }
        if (this == ROLLBACKS) {
            transactions.retainAll(ended);
        }
        return transactions.size();
    }
}
