/**
 * Shakes Trunkline and checks that it kept its promises. A {@link dev.trunkline.faults.Trial} starts a server and a crowd of processes that
 * publish and consume and write down what they do; a {@link dev.trunkline.faults.Fault} does something bad to them, again and again;
 * then all calms down, and the checker holds the journals against the promises.
 */
@NullMarked
package dev.trunkline.faults;

import org.jspecify.annotations.NullMarked;
