/** Watches Trunkline: metrics through Micrometer, traces through OpenTelemetry. Names are in {@code docs/observability.md}. */
@NullMarked
package dev.trunkline.observability;

import org.jspecify.annotations.NullMarked;
