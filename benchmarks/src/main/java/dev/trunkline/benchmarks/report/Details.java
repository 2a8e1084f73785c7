package dev.trunkline.benchmarks.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What else was seen, as tables: one of the single figures, one of the groups of figures side by side, one for each list of such. */
final class Details {

    private static final Set<String> SHOWN_ELSEWHERE = Set.of("system", "x", "xName");

    private Details() {}

    static void write(Markdown text, Map<String, Object> details) {
        List<List<String>> single = new ArrayList<>();
        Map<String, Map<?, ?>> groups = new LinkedHashMap<>();
        Map<String, List<?>> lists = new LinkedHashMap<>();
        details.forEach((name, detail) -> {
            if (SHOWN_ELSEWHERE.contains(name)) {
                return;
            }
            if (detail instanceof Map<?, ?> group) {
                groups.put(name, group);
            } else if (detail instanceof List<?> list && list.stream().anyMatch(Map.class::isInstance)) {
                lists.put(name, list);
            } else {
                single.add(List.of(Words.spaced(name), cell(detail)));
            }
        });
        if (!single.isEmpty()) {
            text.table(List.of("detail", ""), single);
        }
        if (!groups.isEmpty()) {
            sideBySide(text, groups);
        }
        lists.forEach((name, list) -> rows(text, name, list));
    }

    /** A column for each group. */
    private static void sideBySide(Markdown text, Map<String, Map<?, ?>> groups) {
        Set<Object> names = new LinkedHashSet<>();
        groups.values().forEach(group -> names.addAll(group.keySet()));
        List<String> head = new ArrayList<>(List.of("detail"));
        groups.keySet().forEach(group -> head.add(Words.spaced(group)));
        List<List<String>> rows = new ArrayList<>();
        for (Object name : names) {
            List<String> row = new ArrayList<>(List.of(Words.spaced(name.toString())));
            groups.values().forEach(group -> row.add(cell(group.get(name))));
            rows.add(row);
        }
        text.table(head, rows);
    }

    /** A row for each element. */
    private static void rows(Markdown text, String title, List<?> list) {
        Set<Object> names = new LinkedHashSet<>();
        list.forEach(element -> names.addAll(fields(element).keySet()));
        List<String> head =
                names.stream().map(name -> Words.spaced(name.toString())).toList();
        text.paragraph(Words.spaced(title) + ":");
        text.table(
                head,
                list.stream()
                        .map(element -> names.stream()
                                .map(name -> cell(fields(element).get(name)))
                                .toList())
                        .toList());
    }

    private static Map<?, ?> fields(Object element) {
        return element instanceof Map<?, ?> fields ? fields : Map.of("value", element);
    }

    private static String cell(@Nullable Object detail) {
        return Words.cell(plain(detail));
    }

    private static String plain(@Nullable Object detail) {
        return switch (detail) {
            case null -> "";
            case Double number -> Words.number(number);
            case Number number -> String.format(Locale.ROOT, "%,d", number.longValue());
            case Boolean truth -> truth ? "yes" : "no";
            case List<?> list -> list.stream().map(Details::plain).collect(Collectors.joining(", "));
            case Map<?, ?> map ->
                map.entrySet().stream()
                        .map(entry -> Words.spaced(entry.getKey().toString()) + " " + plain(entry.getValue()))
                        .collect(Collectors.joining(", "));
            default -> detail.toString();
        };
    }
}
