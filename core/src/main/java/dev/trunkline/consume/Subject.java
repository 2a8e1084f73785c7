package dev.trunkline.consume;

import org.slf4j.spi.LoggingEventBuilder;

/** A group and its topic, as lines of the log are about them: pairs for machines, beside the sentence for people. */
record Subject(String group, String topic) {

    LoggingEventBuilder of(LoggingEventBuilder line) {
        return line.addKeyValue("group", group).addKeyValue("topic", topic);
    }

    LoggingEventBuilder of(LoggingEventBuilder line, int partition) {
        return of(line).addKeyValue("partition", partition);
    }
}
