package dev.trunkline.benchmarks;

/** Placeholder. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        System.out.println("trunkline benchmarks: nothing here yet");
    }
}
