/**
 * The catalogue of topics.
 */
@NullMarked
package dev.trunkline.topic;

import org.jspecify.annotations.NullMarked;
