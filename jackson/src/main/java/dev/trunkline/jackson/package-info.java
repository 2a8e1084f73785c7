/** JSON payloads through Jackson 3. On the class path, it is what Trunkline encodes objects with. */
@NullMarked
package dev.trunkline.jackson;

import org.jspecify.annotations.NullMarked;
