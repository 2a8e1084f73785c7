/** The database that all is measured on, the statements for it, and the processes that meet at it. */
@NullMarked
package dev.trunkline.benchmarks.database;

import org.jspecify.annotations.NullMarked;
