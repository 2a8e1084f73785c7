/** Trunkline over HTTP: routes, who may use them, and problems as documents. */
@NullMarked
package dev.trunkline.server.http;

import org.jspecify.annotations.NullMarked;
