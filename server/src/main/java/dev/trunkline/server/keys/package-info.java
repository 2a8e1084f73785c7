/** The command {@code trunkline keys}. */
@NullMarked
package dev.trunkline.server.keys;

import org.jspecify.annotations.NullMarked;
