package dev.trunkline.server;

/** Placeholder. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        System.out.println("trunkline server: nothing here yet");
    }
}
