/**
 * Ways to bring messages from publishers to groups, all behind one door: Trunkline, designs that others have published for PostgreSQL
 * (written anew here, each at its cheapest), libraries and brokers as they are. Each keeps its own promise as it is meant to be kept:
 * a message counts as published once it is durable, and as handled after its handler has run.
 */
@NullMarked
package dev.trunkline.benchmarks.peer;

import org.jspecify.annotations.NullMarked;
