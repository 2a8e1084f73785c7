package dev.trunkline.benchmarks.peer;

/** What is sent. */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Letter(String key, byte[] payload) {}
