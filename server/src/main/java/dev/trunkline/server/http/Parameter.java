package dev.trunkline.server.http;

import java.util.List;

/**
 * A parameter in the query of a route: a number, one of some words, or any text.
 *
 * @param says what it is for
 * @param words what it may be; empty: anything, or a number
 * @param otherwise the number that it is if it is not given
 * @param least the least number that it may be
 * @param most the greatest
 */
record Parameter(
        String name, String says, List<String> words, boolean isNumber, long otherwise, long least, long most) {

    static Parameter text(String name, String says) {
        return new Parameter(name, says, List.of(), false, 0, 0, 0);
    }

    static Parameter word(String name, String says, List<String> words) {
        return new Parameter(name, says, List.copyOf(words), false, 0, 0, 0);
    }

    static Parameter number(String name, String says, long otherwise, long least, long most) {
        return new Parameter(name, says, List.of(), true, otherwise, least, most);
    }
}
