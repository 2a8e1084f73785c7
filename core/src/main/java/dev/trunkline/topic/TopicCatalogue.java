package dev.trunkline.topic;

import dev.trunkline.CompletionTrackingMode;
import dev.trunkline.InvalidTopicException;
import dev.trunkline.Keeping;
import dev.trunkline.Ordering;
import dev.trunkline.Start;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.TopicExistsException;
import dev.trunkline.TopicSemantics;
import dev.trunkline.Topics;
import dev.trunkline.UnconfiguredTopics;
import dev.trunkline.UnknownTopicException;
import dev.trunkline.database.Database;
import dev.trunkline.database.Statements;
import dev.trunkline.database.Texts;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@link Topics} on the database. Keeps nothing: what it says is what is there. */
public final class TopicCatalogue implements Topics {

    private static final Logger log = LoggerFactory.getLogger(TopicCatalogue.class);

    private final Database database;
    private final Statements statements;

    public TopicCatalogue(Database database) {
        this.database = database;
        this.statements = Statements.beside(TopicCatalogue.class, "topics.sql", database.schema());
    }

    @Override
    public void create(TopicConfiguration topic) {
        checkName("topic name", topic.name());
        topic.namespace().ifPresent(namespace -> checkName("namespace", namespace));
        topic.task().ifPresent(task -> checkName("task", task));
        run("create", statement -> {
            statement.setString(1, topic.name());
            statement.setString(2, topic.semantics().name());
            statement.setString(3, topic.ordering().name());
            statement.setInt(4, topic.partitions());
            statement.setInt(5, topic.lanes());
            statement.setInt(6, topic.priorityLevels() ? 3 : 1);
            statement.setString(7, topic.namespace().orElse(null));
            statement.setString(8, topic.task().orElse(null));
            statement.setString(9, topic.retention().toString());
            statement.setInt(10, topic.maxPayloadBytes());
            statement.setLong(11, topic.segmentBytes());
            statement.setString(12, topic.segmentAge().toString());
            bind(statement, 13, topic.keeping());
            statement.setString(17, topic.tracking().name());
        });
    }

    @Override
    public void configure(TopicConfiguration topic) {
        if (find(topic.name()).isEmpty()) {
            try {
                create(topic);
                return;
            } catch (TopicExistsException e) {
                log.debug("topic {} was created by somebody else just now", topic.name(), e);
            }
        }
        alter(topic);
    }

    @Override
    public void alter(TopicConfiguration topic) {
        TopicConfiguration now = find(topic.name()).orElseThrow(() -> unknown(topic.name()));
        requireSame(topic.name(), "partitions", now.partitions(), topic.partitions());
        requireSame(topic.name(), "lanes", now.lanes(), topic.lanes());
        requireSame(topic.name(), "ordering", now.ordering(), topic.ordering());
        requireSame(topic.name(), "priority levels", now.priorityLevels(), topic.priorityLevels());
        topic.namespace().ifPresent(namespace -> checkName("namespace", namespace));
        topic.task().ifPresent(task -> checkName("task", task));
        run("alter", statement -> {
            statement.setString(1, topic.name());
            statement.setString(2, topic.semantics().name());
            statement.setString(3, topic.namespace().orElse(null));
            statement.setString(4, topic.task().orElse(null));
            statement.setString(5, topic.retention().toString());
            statement.setInt(6, topic.maxPayloadBytes());
            statement.setLong(7, topic.segmentBytes());
            statement.setString(8, topic.segmentAge().toString());
            bind(statement, 9, topic.keeping());
            statement.setString(13, topic.tracking().name());
        });
    }

    @Override
    public Optional<TopicConfiguration> find(String name) {
        if (Texts.flaw(name) != null) {
            return Optional.empty();
        }
        return query("find", statement -> statement.setString(1, name)).stream().findFirst();
    }

    @Override
    public List<TopicConfiguration> list() {
        return query("list", statement -> {});
    }

    @Override
    public void drop(String name) {
        if (Texts.flaw(name) != null) {
            throw unknown(name);
        }
        run("drop", statement -> statement.setString(1, name));
    }

    @Override
    public void unconfigured(UnconfiguredTopics choice) {
        run("setUnconfigured", statement -> statement.setString(1, choice.name()));
    }

    @Override
    public void defaultStart(Start.Mode choice) {
        run("setDefaultStart", statement -> statement.setString(1, choice.name()));
    }

    /** Creates a topic that nobody has configured as a queue, if the installation wants that; otherwise explains. */
    public void createUnconfigured(String name, UnknownTopicException unknown) {
        UnconfiguredTopics choice = database.read(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(statements.get("unconfigured"));
                    ResultSet row = statement.executeQuery()) {
                row.next();
                return UnconfiguredTopics.valueOf(row.getString(1));
            }
        });
        if (choice == UnconfiguredTopics.REFUSE) {
            throw unknown;
        }
        configure(TopicConfiguration.queue(name));
    }

    /** The rule for every name: the database repeats it. */
    private static void checkName(String what, String name) {
        int length = name.codePointCount(0, name.length());
        if (length < 1 || length > 255) {
            throw new InvalidTopicException(
                    "a " + what + " has 1 to 255 characters, this one has " + length + ": choose another name");
        }
        name.codePoints().forEach(c -> {
            if (Character.isISOControl(c)) {
                throw new InvalidTopicException(
                        "a " + what + " has no control characters, this one has U+%04X: remove it".formatted(c));
            }
            if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
                throw new InvalidTopicException("a " + what
                        + " is valid Unicode, this one has the lone surrogate U+%04X: remove it".formatted(c));
            }
        });
    }

    private static void requireSame(String topic, String what, Object now, Object wanted) {
        if (!now.equals(wanted)) {
            throw new InvalidTopicException("topic \"" + topic + "\" has " + what + " " + now + " for life, not "
                    + wanted + ": to change that, create another topic and move to it");
        }
    }

    private static UnknownTopicException unknown(String name) {
        return new UnknownTopicException("there is no topic \"" + name + "\": create it first");
    }

    private void run(String statementName, Binding binding) {
        database.call(connection -> {
            try (PreparedStatement statement = prepare(connection, statementName, binding)) {
                return statement.execute();
            }
        });
    }

    private List<TopicConfiguration> query(String statementName, Binding binding) {
        return database.read(connection -> {
            try (PreparedStatement statement = prepare(connection, statementName, binding);
                    ResultSet row = statement.executeQuery()) {
                List<TopicConfiguration> topics = new ArrayList<>();
                while (row.next()) {
                    topics.add(topic(row));
                }
                return topics;
            }
        });
    }

    private PreparedStatement prepare(Connection connection, String statementName, Binding binding)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(statements.get(statementName));
        binding.bind(statement);
        return statement;
    }

    private static void bind(PreparedStatement statement, int first, Keeping keeping) throws SQLException {
        statement.setString(first, keeping.hardCap().toString());
        statement.setString(first + 1, keeping.zombieTtl().toString());
        statement.setString(first + 2, keeping.unheard().toString());
        statement.setString(first + 3, keeping.refuseUnheard() ? "REFUSE" : "KEEP");
    }

    private static TopicConfiguration topic(ResultSet row) throws SQLException {
        return new TopicConfiguration(
                row.getString("name"),
                TopicSemantics.valueOf(row.getString("semantics")),
                Ordering.valueOf(row.getString("ordering")),
                row.getInt("partitions"),
                row.getInt("lanes"),
                row.getInt("levels") > 1,
                Optional.ofNullable(row.getString("namespace")),
                Optional.ofNullable(row.getString("task")),
                Duration.ofSeconds(row.getLong("retention")),
                row.getInt("max_payload_bytes"),
                row.getLong("segment_bytes"),
                Duration.ofSeconds(row.getLong("segment_age")),
                new Keeping(
                        Duration.ofSeconds(row.getLong("unheard_retention")),
                        row.getString("unheard").equals("REFUSE"),
                        Duration.ofSeconds(row.getLong("zombie_ttl")),
                        Duration.ofSeconds(row.getLong("hard_cap"))),
                CompletionTrackingMode.valueOf(row.getString("tracking")));
    }

    /** Sets a statement's parameters. */
    @FunctionalInterface
    private interface Binding {
        void bind(PreparedStatement statement) throws SQLException;
    }
}
