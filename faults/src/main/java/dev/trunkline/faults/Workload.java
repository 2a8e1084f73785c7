package dev.trunkline.faults;

import dev.trunkline.Message;
import dev.trunkline.TopicConfiguration;
import dev.trunkline.Trunkline;
import dev.trunkline.checker.Event;
import dev.trunkline.checker.Event.Content;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** What publishers and consumers of a trial agree on. */
final class Workload {

    /** What both groups hear. */
    static final String ORDERS = "orders";
    /** Much more, in batches, which only {@link #PLAIN} hears. */
    static final String CLICKS = "clicks";

    static final List<String> TOPICS = List.of(ORDERS, CLICKS);
    /** Its handler does nothing that the database knows of. */
    static final String PLAIN = "plain";
    /** Its handler writes rows into the table {@code effect}, in the transaction of its progress. */
    static final String EFFECTS = "effects";

    private static final int PARTITIONS = 8;
    private static final int KEYS = 40;

    private Workload() {}

    static void create(Address address) throws SQLException {
        try (Trunkline trunkline = address.open()) {
            for (String topic : TOPICS) {
                trunkline.topics().create(topic(topic));
            }
        }
        try (Connection connection = address.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("create table business (value text primary key)");
            statement.execute(
                    "create table effect (topic text not null, partition int not null, \"offset\" bigint not null,"
                            + " epoch bigint not null, value text not null, clock_error interval not null default '0')");
            // What is recorded is folded soon: who was believed when is kept here.
            statement.execute(
                    "create table accepted (subscription int not null, strand int not null, epoch bigint not null,"
                            + " clock_error interval not null default '0')");
            statement.execute("""
                    create function accept() returns trigger language plpgsql security definer as $$
                    begin
                        insert into public.accepted (subscription, strand, epoch) values (new.subscription, new.strand, new.epoch);
                        return null;
                    end $$""");
            for (int slot = 0; slot < 2; slot++) {
                statement.execute("create trigger accept after insert on trunkline.progress_" + slot
                        + " for each row execute function accept()");
            }
            statement.execute("""
                    create view heard as select s.id, s.group_name, t.name as topic
                    from trunkline.subscription s join trunkline.topic t on t.id = s.topic
                    where s.status <> 'CANCELLED'""");
            statement.execute("create view stake as select * from heard where group_name in ('plain', 'effects')");
            statement.execute(
                    "select trunkline.subscribe('plain', 'orders', 'BEGINNING'),"
                            + " trunkline.subscribe('plain', 'clicks', 'BEGINNING'), trunkline.subscribe('effects', 'orders', 'BEGINNING')");
        }
    }

    /** What the groups of the crowd are owed, and what comes of it. */
    static List<Event> owed() {
        long now = System.nanoTime();
        List<Event> owed = new ArrayList<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            owed.add(new Event.From(now, PLAIN, ORDERS, partition, 0));
            owed.add(new Event.From(now, PLAIN, CLICKS, partition, 0));
            owed.add(new Event.From(now, EFFECTS, ORDERS, partition, 0));
        }
        owed.add(new Event.Transactional(now, EFFECTS, ORDERS));
        return owed;
    }

    static TopicConfiguration topic(String name) {
        return TopicConfiguration.pubSub(name).withPartitions(PARTITIONS);
    }

    /** What is written down of messages. */
    static List<Content> contents(List<Message> messages) {
        return messages.stream()
                .map(message -> new Content(message.key(), (String) message.payload()))
                .toList();
    }

    /** Three of four have a key. */
    static Message message(String topic, String value, Random random) {
        Message message = Message.of(topic, value);
        return random.nextInt(4) == 0 ? message : message.withKey("key-" + random.nextInt(KEYS));
    }
}
