/**
 * Consumer groups. A process has one session; a group's processes share its partitions by what each can see of the others; the owner of
 * a partition reads ahead within a window, hands messages to handlers, each key in order, and records what is done. Recording
 * locks the holder's row: an owner that was replaced can record nothing.
 */
@NullMarked
package dev.trunkline.consume;

import org.jspecify.annotations.NullMarked;
