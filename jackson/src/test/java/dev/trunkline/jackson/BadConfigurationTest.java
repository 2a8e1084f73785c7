package dev.trunkline.jackson;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is wrong in a file is refused with the name of the key and what is allowed. */
class BadConfigurationTest {

    private static final Map<String, String> ENVIRONMENT = Map.of("MANY", "many", "EMPTY", "", "HALF", "${MANY}");

    static Stream<Arguments> files() {
        return Stream.of(
                // The file
                arguments("", "the file is missing: it must be a mapping with keys of [database, leaseMs,"),
                arguments("# nothing", "the file is missing: it must be a mapping"),
                arguments("- a", "the file must be a mapping"),
                arguments("just text", "the file must be a mapping"),
                arguments("leaseMs: 1: 2", "the file is not one document of YAML (line 1)"),
                arguments("groups:\n\t- topic: t", "the file is not one document of YAML"),
                arguments("leaseMs: 5000\n---\nleaseMs: 6000", "the file is not one document of YAML (line 3)"),
                arguments("groups: " + "[".repeat(10_000), "the file is not one document of YAML"),
                arguments("leaseMs: *lease", "the file is not one document of YAML (line 1)"),
                // Keys
                arguments("waitPeriod: 100", "waitPeriod is unknown: did you mean waitPeriodMs? Known are [database,"),
                arguments("groups: [{topic: t, START: now}]", "groups[0].START is unknown: did you mean start?"),
                arguments("1: 2", "1 is unknown: did you mean "),
                arguments("database: {usr: a}", "database.usr is unknown: did you mean user? Known are [url, user,"),
                arguments(
                        groups("topic: t", "batchSise: 3"), "groups[1].batchSise is unknown: did you mean batchSize?"),
                arguments(group("retry: {atempts: 3}"), "groups[0].retry.atempts is unknown: did you mean attempts?"),
                arguments("leaseMs: 1\nleaseMs: 2", "leaseMs (line 2) is there twice: leave one out"),
                arguments(groups("topic: t", "topic: a, topic: b"), "groups[1].topic (line 3) is there twice"),
                arguments("waitPeriodMs:", "waitPeriodMs has no value: give it one, or leave the key out"),
                arguments("database: null", "database has no value"),
                arguments(group("groupId: "), "groups[0].groupId has no value"),
                // Mappings and lists
                arguments("database: here", "database must be a mapping with keys of [url,"),
                arguments("database: []", "database must be a mapping"),
                arguments("groups: {topic: t}", "groups must be a list"),
                arguments("groups: t", "groups must be a list"),
                arguments("groups: [t]", "groups[0] must be a mapping with keys of [groupId, topic,"),
                arguments(group("retry: 3"), "groups[0].retry must be a mapping"),
                arguments(group("partitionIds: 3"), "groups[0].partitionIds must be a list"),
                // The database
                arguments("database: {user: a, password: b}", "database.url is missing: it must be text"),
                arguments(database("user: a"), "database.password is missing: it must be text"),
                arguments(database("password: a"), "database.user is missing: it must be text"),
                arguments("database: {directUrl: 'jdbc:postgresql:x'}", "database.url is missing"),
                arguments("database: {url: 5, user: a, password: b}", "database.url must be text, in quotes if"),
                arguments(
                        "database: {url: 'localhost', user: a, password: b}",
                        "database.url must be a URL such as jdbc:postgresql://"),
                arguments(
                        "database: {url: 'jdbc:h2:mem', user: a, password: b}",
                        "database.url must be a URL such as jdbc:postgresql://"),
                arguments(
                        "database: {url: 'jdbc:postgresql://h:port/x', user: a, password: b}",
                        "database.url must be a URL such as jdbc:postgresql://"),
                arguments(database("user: '', password: b"), "database.user must be text that is not empty"),
                arguments(
                        database("user: a, password: 1234"),
                        "database.password must be text, in quotes if it looks like a number"),
                arguments(
                        database("user: a, password: b, directUrl: direct"),
                        "database.directUrl must be a URL such as"),
                arguments(
                        "database: {poolSize: 1}",
                        "database.poolSize: a pool of 1 connections is too small: use 2 or more"),
                arguments("database: {poolSize: '8'}", "database.poolSize must be a whole number, not in quotes"),
                arguments(
                        "database: {schema: Big}",
                        "database.schema: \"Big\" can not name the schema: use 1 to 48 of a-z"),
                arguments("database: {schema: 7}", "database.schema must be text"),
                // The process
                arguments("leaseMs: 1999", "leaseMs: a lease of PT1.999S is too short: use 2 seconds or more"),
                arguments("leaseMs: 10s", "leaseMs must be a whole number, not in quotes"),
                arguments("waitPeriodMs: 0", "waitPeriodMs must be from 1 to 999999999"),
                arguments(
                        "waitPeriodMs: 9999999999",
                        "waitPeriodMs must be a whole number, not in quotes, of at most 9 digits"),
                arguments("waitPeriodMs: 1.5", "waitPeriodMs must be a whole number"),
                arguments("waitPeriodMs: [1]", "waitPeriodMs must be a whole number"),
                arguments("waitPeriodMs: 010", "waitPeriodMs must be a whole number"),
                arguments("shutdownHook: yes", "shutdownHook must be true or false, not in quotes"),
                arguments("shutdownHook: 'true'", "shutdownHook must be true or false, not in quotes"),
                arguments("shutdownHook: 1", "shutdownHook must be true or false"),
                arguments("shutdownHook: {}", "shutdownHook must be true or false"),
                // Groups
                arguments("groups: [{start: now}]", "groups[0].topic is missing: it must be text"),
                arguments("groups: [{topic: '', start: now}]", "groups[0].topic must be text that is not empty"),
                arguments("groups: [{topic: 7, start: now}]", "groups[0].topic must be text, in quotes"),
                arguments(group("groupId: 7"), "groups[0].groupId must be text, in quotes"),
                arguments(group("groupId: ''"), "groups[0].groupId must be text that is not empty"),
                arguments(
                        "groups: [{topic: t}]",
                        "groups[0].start is missing: it must be now, beginning, offset:N, message:ID, or a time with its zone"),
                arguments(
                        "groups: [{topic: t, start: latest}]",
                        "groups[0].start must be now, beginning, offset:N, message:ID, or a time with its zone"),
                arguments(
                        "groups: [{topic: t, start: 3}]",
                        "groups[0].start must be now, beginning, offset:N, message:ID, or a time with its zone"),
                arguments(
                        groups("topic: t, groupId: g", "topic: t, groupId: g"),
                        "groups[1].groupId repeats group \"g\" on topic \"t\": leave one out"),
                arguments(
                        group("concurrency: 0"),
                        "groups[0].concurrency: a concurrency of 0 handles nothing: use 1 or more"),
                arguments(group("concurrency: true"), "groups[0].concurrency must be a whole number"),
                arguments(
                        group("window: 100001"),
                        "groups[0].window: a window of 100001 messages is not within 1 to 100000"),
                arguments(
                        groups("topic: t", "batchSize: 0"),
                        "groups[1].batchSize: a batch of 0 messages is not within 1 to 10000"),
                arguments(
                        group("batchSize: -1"), "groups[0].batchSize: a batch of -1 messages is not within 1 to 10000"),
                arguments(group("batchSize: 1e3"), "groups[0].batchSize must be a whole number"),
                arguments(group("batchUnit: message"), "groups[0].batchUnit must be one of key, partition, work"),
                arguments(
                        group("unitLimit: 20"),
                        "groups[0].unitLimit limits units of work: use it with batchUnit: work"),
                arguments(
                        group("unitLimit: 4, batchUnit: work, batchSize: 5"),
                        "groups[0].unitLimit: a unit of at most 4 messages is not within the size of a batch, 5, and 100000"),
                arguments(group("handlerTimeoutMs: 0"), "groups[0].handlerTimeoutMs must be from 1 to 999999999"),
                arguments(group("totalPartitions: 0"), "groups[0].totalPartitions must be from 1 to 1024"),
                arguments(group("totalPartitions: 1025"), "groups[0].totalPartitions must be from 1 to 1024"),
                arguments(group("partitionIds: []"), "groups[0].partitionIds must name partitions"),
                arguments(
                        group("partitionIds: [0], partitionId: 1"),
                        "groups[0].partitionIds must name partitions, with no partitionId beside it"),
                arguments(group("partitionIds: [0, one]"), "groups[0].partitionIds[1] must be a whole number"),
                arguments(group("partitionIds: [3, 3]"), "groups[0].partitionIds[1] is there twice"),
                arguments(group("partitionIds: [-1]"), "groups[0].partitionIds[0] must be from 0 to 1023"),
                arguments(
                        group("partitionIds: [0, 4], totalPartitions: 4"),
                        "groups[0].partitionIds[1] must be from 0 to 3"),
                arguments(group("partitionId: 1024"), "groups[0].partitionId must be from 0 to 1023"),
                arguments(
                        group("retry: {attempts: 0}"),
                        "groups[0].retry.attempts: a message is tried at least once, not 0 times"),
                arguments(
                        group("retry: {firstDelayMs: -1}"), "groups[0].retry.firstDelayMs must be from 0 to 999999999"),
                arguments(
                        group("retry: {firstDelayMs: 90000}"),
                        "groups[0].retry.longestDelayMs: delays from PT1M30S to PT1M make no sense"),
                arguments(
                        group("retry: {longestDelayMs: 500}"),
                        "groups[0].retry.longestDelayMs: delays from PT1S to PT0.5S make no sense"),
                arguments(group("retry: {exhausted: drop}"), "groups[0].retry.exhausted must be one of park, skip"),
                // Placeholders
                arguments(
                        group("groupId: '${ABSENT}'"),
                        "groups[0].groupId needs the environment variable ABSENT: set it, or give a default as in ${ABSENT:default}"),
                arguments(
                        "groups: [{start: now, topic: '${EMPTY}'}]", "groups[0].topic must be text that is not empty"),
                arguments(
                        group("groupId: 'a-${'"),
                        "groups[0].groupId has a ${ that begins no placeholder: use ${NAME}, ${NAME:default}, or $${"),
                arguments(group("groupId: '${1ST}'"), "groups[0].groupId has a ${ that begins no placeholder"),
                arguments(
                        group("groupId: '${ABSENT:${MANY}}'"), "groups[0].groupId has a ${ that begins no placeholder"),
                arguments(group("window: '${MANY}'"), "groups[0].window must be a whole number"),
                arguments(group("window: '${HALF}'"), "groups[0].window must be a whole number"),
                arguments(group("window: '${ABSENT:0}'"), "groups[0].window: a window of 0 messages is not within"),
                arguments("shutdownHook: ${MANY}", "shutdownHook must be true or false"),
                arguments("leaseMs: ${ABSENT}", "leaseMs needs the environment variable ABSENT"));
    }

    @ParameterizedTest
    @MethodSource("files")
    void what_is_wrong_is_refused_by_its_place(String yaml, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Configuration(Setting.parse(yaml, ENVIRONMENT::get)))
                .satisfies(e -> Assertions.assertThat(e.getMessage()).startsWith(message));
    }

    /** Each is wrong at the password or beside it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "hunter2: more",
                "'hunter2",
                "\"hunter2",
                "\"\\Uhunter2\"",
                "*hunter2",
                "&hunter2 ",
                "!hunter2!x y",
                "!!float hunter2",
                "!!binary hunter2%",
                "{hunter2}",
                "{hunter2",
                "{hunter2, hunter2}",
                "[hunter2]",
                "[hunter2",
                "@hunter2",
                "%hunter2",
                "\"${hunter2-\"",
                "hunter2${",
                "hunter2\n  user: b",
                "hunter2\n  password: hunter2",
                "hunter2\n  pasword: hunter2",
                "hunter2\n  url: x",
                "hunter2\n  poolSize: ${SECRET}",
                "hunter2\n  directUrl: jdbc:postgresql://h:port/x?password=hunter2",
                "hunter2\n  directUrl: mysql://root:hunter2@h/x",
                "${SECRET}${ABSENT}",
                "${SECRET}\n\tschema: x"
            })
    void a_password_is_in_no_error(String password) {
        String yaml = "database:\n  url: jdbc:postgresql:x\n  user: a\n  password: " + password + "\n";
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Configuration(Setting.parse(yaml, Map.of("SECRET", "hunter2")::get)))
                .satisfies(e -> {
                    StringWriter trace = new StringWriter();
                    e.printStackTrace(new PrintWriter(trace));
                    Assertions.assertThat(trace.toString()).doesNotContain("hunter2");
                });
    }

    private static String database(String settings) {
        return "database: {url: 'jdbc:postgresql:x', " + settings + "}";
    }

    private static String group(String settings) {
        return "groups:\n- {topic: t, start: now, " + settings + "}";
    }

    private static String groups(String first, String second) {
        String topic = second.contains("topic") ? "" : "topic: u, ";
        return "groups:\n- {start: now, " + first + "}\n- {start: now, " + topic + second + "}";
    }
}
