/** The command line: {@link dev.trunkline.server.Main}, and one class for each command. */
@NullMarked
package dev.trunkline.server;

import org.jspecify.annotations.NullMarked;
