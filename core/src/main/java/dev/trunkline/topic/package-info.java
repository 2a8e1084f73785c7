/**
 * The catalogue of topics: they are made, altered, listed and dropped by the functions of {@code schema/006_topics.sql}, which whoever speaks SQL calls too.
 * Partitions, lanes, priority levels and ordering stay for life. Nothing is kept here: what is said is what is in the database.
 */
@NullMarked
package dev.trunkline.topic;

import org.jspecify.annotations.NullMarked;
