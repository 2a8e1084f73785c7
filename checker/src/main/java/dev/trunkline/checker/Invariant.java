package dev.trunkline.checker;

/** What must hold. */
public enum Invariant {
    C1("nothing that was acknowledged is lost, to the log or to a group"),
    C2("nothing is there that was not published, or whose publisher was told that it failed"),
    C3("an offset has one value and a value has one offset, for all who look, and no offset is left out"),
    C4("what was acknowledged before another publish began lies before it in its partition"),
    C5("who reads a partition gets every offset, one after the other"),
    C6("a message of a key starts when the one before it has ended, and none before all before it are done"),
    C7("what was accepted never goes back to an older epoch"),
    C8("a message comes again only after a fault, and only if it was in hand around it"),
    C9("what is recorded as done was done before"),
    C10("every message has one effect, and those of a key are in order"),
    C11("what is owed is handled soon after all has calmed down"),
    C12("nothing is dropped that a group still has to read");

    private final String rule;

    Invariant(String rule) {
        this.rule = rule;
    }

    /** The rule in words. */
    public String rule() {
        return rule;
    }
}
