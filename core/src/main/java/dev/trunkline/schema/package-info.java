/**
 * The schema and its migrations: numbered {@code .sql} files, forward only, applied once under an advisory lock.
 */
@NullMarked
package dev.trunkline.schema;

import org.jspecify.annotations.NullMarked;
