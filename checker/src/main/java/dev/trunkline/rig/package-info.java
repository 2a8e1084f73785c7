/** What a system is shaken with: processes that can be killed, and lines that can be cut. */
@NullMarked
package dev.trunkline.rig;

import org.jspecify.annotations.NullMarked;
