/**
 * The demo, which proves itself. {@link dev.trunkline.server.demo.Writer}s publish orders in three ways and note what
 * they know of each; a {@link dev.trunkline.server.demo.Reader} notes what it finds in the log. At the end
 * {@link dev.trunkline.server.demo.Proof} compares the two notes, promise by promise.
 */
@NullMarked
package dev.trunkline.server.demo;

import org.jspecify.annotations.NullMarked;
