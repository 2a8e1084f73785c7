/** What a system is shaken with: processes that can be killed, lines that can be cut, inputs that nobody expects. */
@NullMarked
package dev.trunkline.rig;

import org.jspecify.annotations.NullMarked;
