/** Jackson 3: JSON payloads, which Trunkline encodes objects as if this is on the class path, and configuration by a YAML file. */
@NullMarked
package dev.trunkline.jackson;

import org.jspecify.annotations.NullMarked;
