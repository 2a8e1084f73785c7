/**
 * The checker's own test: a log so small that it can be read at a glance, and the mistakes that are made in such logs. Each
 * {@link dev.trunkline.faults.seeded.SeededBug} is a short story on a real server. Told rightly the checker must find nothing, told with the
 * mistake it must find it and call it by its name.
 */
@NullMarked
package dev.trunkline.faults.seeded;

import org.jspecify.annotations.NullMarked;
