/** The database that all is measured on, and the statements for it. */
@NullMarked
package dev.trunkline.benchmarks.database;

import org.jspecify.annotations.NullMarked;
