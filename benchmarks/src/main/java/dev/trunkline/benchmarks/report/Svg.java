package dev.trunkline.benchmarks.report;

import java.util.Locale;

/** A drawing on a light card of its own, that says in words what it shows. */
final class Svg {

    static final String MARK = "<!-- Written by ./trunkline bench: do not edit. -->";
    static final String ACCENT = "#0969da";
    static final String PLAIN = "#8c959f";
    static final String GOOD = "#1a7f37";
    static final String BAD = "#cf222e";
    static final int WIDTH = 800;
    static final int MARGIN = 24;
    /** Where the drawing begins, below its title. */
    static final int TOP = 76;

    private static final double CHARACTER = 6.7;

    private final StringBuilder shapes = new StringBuilder();

    /** How wide a text is at most, as fonts differ. */
    static double width(String text) {
        return text.length() * CHARACTER;
    }

    void rect(double x, double y, double width, double height, String fill) {
        add("<rect x='" + n(x) + "' y='" + n(y) + "' width='" + n(width) + "' height='" + n(height) + "' rx='2' fill='"
                + fill + "'/>");
    }

    void line(double x1, double y1, double x2, double y2, String style) {
        add("<line x1='" + n(x1) + "' y1='" + n(y1) + "' x2='" + n(x2) + "' y2='" + n(y2) + "' class='" + style
                + "'/>");
    }

    void curve(String points, String color, double width, String dashes) {
        add("<polyline points='" + points + "' fill='none' stroke='" + color + "' stroke-width='" + n(width)
                + "' stroke-dasharray='" + dashes + "'/>");
    }

    void dot(double x, double y, double radius, String color) {
        add("<circle cx='" + n(x) + "' cy='" + n(y) + "' r='" + n(radius) + "' fill='" + color + "'/>");
    }

    void text(double x, double y, String anchor, String style, String text) {
        add("<text x='" + n(x) + "' y='" + n(y) + "' text-anchor='" + anchor + "' class='" + style + "'>"
                + escaped(text) + "</text>");
    }

    /** A coordinate. */
    static String n(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    private void add(String shape) {
        shapes.append(shape).append('\n');
    }

    String drawn(String title, String subtitle, String description, double height) {
        text(MARGIN, 34, "start", "title", Words.cut(title, 80));
        text(MARGIN, 54, "start", "muted", Words.cut(subtitle, 112));
        return String.format(
                Locale.ROOT,
                """
                <svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %1$d %2$.0f' width='%1$d' height='%2$.0f' role='img' \
                aria-labelledby='title description' font-family='sans-serif' font-size='12'>
                %3$s
                <title id='title'>%4$s</title>
                <desc id='description'>%5$s</desc>
                <style>
                text { fill: #1f2328; stroke: #ffffff; stroke-width: 3px; paint-order: stroke } .title { font-size: 16px; font-weight: bold } .strong { font-weight: bold }
                .muted { fill: #59636e } .grid { stroke: #e4e8ec } .axis { stroke: #8c959f }
                .target { stroke: #1f2328; stroke-width: 2.5 } .spread { stroke: #1f2328; stroke-opacity: .55 }
                </style>
                <rect x='.5' y='.5' width='%6$d' height='%7$.0f' rx='8' fill='#ffffff' stroke='#d0d7de'/>
                %8$s</svg>
                """,
                WIDTH,
                height,
                MARK,
                escaped(title),
                escaped(description),
                WIDTH - 1,
                height - 1,
                shapes);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
