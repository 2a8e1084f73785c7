package dev.trunkline.server.http;

/** What a caller may be allowed to. */
public enum Verb {
    /** To see topics, groups and messages. */
    READ,
    PUBLISH,
    /** To pull from a group, and to settle what was pulled. */
    CONSUME,
    /** To make, alter and drop topics, move and end groups, decide on dead letters, and give keys. */
    ADMIN
}
