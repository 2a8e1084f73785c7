/** The command {@code trunkline topics}. */
@NullMarked
package dev.trunkline.server.topics;

import org.jspecify.annotations.NullMarked;
