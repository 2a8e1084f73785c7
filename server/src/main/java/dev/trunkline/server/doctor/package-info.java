/**
 * The command {@code trunkline doctor}. A check is one question to a database; it works with whatever rights there are, and says what it lacks.
 */
@NullMarked
package dev.trunkline.server.doctor;

import org.jspecify.annotations.NullMarked;
