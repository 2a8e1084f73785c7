/**
 * Publishing in a transaction of its own: callers in one process share a batch, and a batch goes straight into the log
 * where its lanes are free.
 */
@NullMarked
package dev.trunkline.publish;

import org.jspecify.annotations.NullMarked;
