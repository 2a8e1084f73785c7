/**
 * The demo, which proves itself. {@link dev.trunkline.server.demo.Writer}s publish orders and know what became of each; the
 * handlers of three groups, in two processes, write {@link dev.trunkline.server.demo.Notes} of what they handled; in mid-run
 * an {@link dev.trunkline.server.demo.Accident} kills the second process. At the end {@link dev.trunkline.server.demo.Proof}
 * holds one against the other, promise by promise.
 */
@NullMarked
package dev.trunkline.server.demo;

import org.jspecify.annotations.NullMarked;
