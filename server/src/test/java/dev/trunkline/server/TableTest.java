package dev.trunkline.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {

    private static final String LONG = "a-name-that-is-much-too-long-for-a-narrow-terminal";

    private static List<String> lines(Terminal terminal, Table table) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        table.print(out, terminal);
        out.flush();
        return text.toString().lines().toList();
    }

    private static Table table() {
        Table table = new Table("NAME", "NUMBER", "WHAT");
        table.row(LONG, 123_456_789, "short");
        table.row("x", 7, null);
        return table;
    }

    @Test
    void a_program_gets_all_of_it_without_colours() {
        assertThat(lines(Terminal.NONE, table()))
                .containsExactly(
                        "NAME" + " ".repeat(LONG.length() - 4) + "     NUMBER  WHAT",
                        LONG + "  123456789  short",
                        "x" + " ".repeat(LONG.length() - 1) + "          7");
    }

    @Test
    void on_a_terminal_a_row_is_a_line_and_numbers_are_never_cut() {
        List<String> lines = lines(new Terminal(true, false, () -> 40), table());
        assertThat(lines).allMatch(line -> line.length() <= 40);
        assertThat(lines.get(1)).matches("a-name-that-is-much-.*…  123456789  short");
        assertThat(lines(new Terminal(true, false, () -> 1), table()).get(1)).isEqualTo("a-nam…  123456789  short");
    }

    @Test
    void a_terminal_that_is_wide_enough_cuts_nothing() {
        assertThat(lines(new Terminal(true, false, () -> 200), table())).isEqualTo(lines(Terminal.NONE, table()));
    }

    @Test
    void colours_are_for_terminals_that_show_them() {
        assertThat(lines(new Terminal(true, true, () -> 200), table()).getFirst())
                .startsWith("\033[1mNAME");
        assertThat(lines(new Terminal(true, false, () -> 200), table()).getFirst())
                .startsWith("NAME");
    }

    @Test
    void a_cell_can_not_break_its_line_or_tell_the_terminal_what_to_do() {
        Table table = new Table("ERROR");
        table.row("first\r\n\033[2Jsecond\u009b1m");
        assertThat(lines(Terminal.NONE, table)).containsExactly("ERROR", "first\\r\\n\\u001b[2Jsecond\\u009b1m");
    }

    @Test
    void half_a_character_is_never_left() {
        Table table = new Table("NAME");
        table.row("😀".repeat(20));
        assertThat(lines(new Terminal(true, false, () -> 10), table).get(1)).isEqualTo("😀".repeat(4) + "…");
    }

    @Test
    void columns_are_those_of_the_terminal() {
        Table table = new Table("NAME", "WHAT");
        table.row("注文", "x");
        table.row("e\u0301te", "x");
        table.row("orders", "x");
        assertThat(lines(Terminal.NONE, table))
                .containsExactly("NAME    WHAT", "注文    x", "e\u0301te     x", "orders  x");
        assertThat(Columns.of("👩🏽 ｱ한ａ")).isEqualTo(10);
    }

    @Test
    void lists_are_cut_for_people_only() {
        String database = Cli.freshDatabase();
        assertThat(Cli.on(database, "migrate").code()).isZero();
        String name = LONG + LONG + LONG;
        assertThat(Cli.on(database, "topics", "create", name).code()).isZero();
        assertThat(Cli.on(database, "topics", "list").out()).contains(name);
        StringWriter out = new StringWriter();
        Cli.run(new Terminal(true, false, () -> 80), out, Cli.at(database, "topics", "list"));
        assertThat(out.toString()).contains("a-name-that").contains("…").doesNotContain(name);
        assertThat(out.toString().lines()).allMatch(line -> line.length() <= 80);
    }

    @Test
    void progress_is_shown_on_a_terminal_only() {
        String database = Cli.freshDatabase();
        assertThat(Cli.on(database, "migrate").err()).isEmpty();
        Cli.Result shown = Cli.run(
                new Terminal(true, false, () -> 80), new StringWriter(), Cli.at(Cli.freshDatabase(), "migrate"));
        assertThat(shown.err()).contains("bringing schema trunkline up to date");
        Terminal narrow = new Terminal(true, false, () -> 20);
        assertThat(Cli.run(narrow, new StringWriter(), Cli.at(Cli.freshDatabase(), "migrate"))
                        .err())
                .contains("\r\033[Kbringing schema tr…");
        Terminal onlyOut = new Terminal(true, false, true, false, () -> 80);
        assertThat(Cli.run(onlyOut, new StringWriter(), Cli.at(Cli.freshDatabase(), "migrate"))
                        .err())
                .isEmpty();
        Terminal onlyErr = new Terminal(false, false, false, true, () -> 80);
        assertThat(Cli.run(onlyErr, new StringWriter(), Cli.at(Cli.freshDatabase(), "migrate"))
                        .err())
                .contains("bringing schema");
        assertThat(Cli.on(database, "verify").err()).isEmpty();
    }
}
