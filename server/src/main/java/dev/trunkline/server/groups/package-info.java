/** The commands that look after groups: {@code trunkline groups}, {@code lag}, {@code seek}, {@code dead-letters}, {@code redrive}, {@code explain}, {@code audit}. */
@NullMarked
package dev.trunkline.server.groups;

import org.jspecify.annotations.NullMarked;
