/** The commands that look after groups: {@code trunkline groups}, {@code seek}, {@code explain}. */
@NullMarked
package dev.trunkline.server.groups;

import org.jspecify.annotations.NullMarked;
