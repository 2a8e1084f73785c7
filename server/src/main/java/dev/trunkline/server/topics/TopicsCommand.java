package dev.trunkline.server.topics;

import picocli.CommandLine.Command;

/** {@code trunkline topics}. */
@Command(
        name = "topics",
        description = "List, create, alter or drop topics.",
        subcommands = {ListCommand.class, CreateCommand.class, AlterCommand.class, DropCommand.class})
public final class TopicsCommand {}
