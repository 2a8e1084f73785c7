-- What exists: the installation, its topics, their lanes and their segments.

-- Where the server is in its history: a standby that takes over, or a server that was set back in time, goes on in another timeline.
create function trunkline.timeline() returns text
    language sql stable
    return substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);

create table trunkline.installation (
    only_row             boolean primary key default true check (only_row),
    -- Transaction ids in the outbox mean something in this cluster and database only.
    system_identifier    bigint not null,
    database             oid not null,
    -- In which timeline of the server it is, and since when that is known.
    timeline             text not null default trunkline.timeline(),
    timeline_since       timestamptz not null default clock_timestamp(),
    outbox_slot          int not null default 0,
    outbox_slot_since    timestamptz not null default clock_timestamp(),
    idempotency_slot     int not null default 0,
    idempotency_since    timestamptz not null default clock_timestamp(),
    idempotency_window   interval not null default '24 hours' check (idempotency_window > '0'),
    unconfigured_topics  text not null default 'REFUSE' check (unconfigured_topics in ('REFUSE', 'QUEUE')),
    -- Where a group begins that does not say.
    default_start        text not null default 'NOW' check (default_start in ('NOW', 'BEGINNING'))
);

insert into trunkline.installation (system_identifier, database)
select c.system_identifier, d.oid
from pg_control_system() c, pg_database d
where d.datname = current_database();

-- In another timeline, what was committed last before may be lost, and its numbers are given again: offsets, epochs, ids of sessions, groups and
-- segments. What a process remembers of before may mean something else: so a session lives in one timeline only (see beat, take and record). And the
-- first who notices has all numbers but offsets go on far from where they were, before he gives any.
create function trunkline.notice_failover() returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    perform from trunkline.installation i where i.timeline = trunkline.timeline();
    if found then
        return;
    end if;
    update trunkline.installation i set timeline = trunkline.timeline(), timeline_since = clock_timestamp() where i.timeline <> trunkline.timeline();
    if not found then
        return; -- somebody else was faster
    end if;
    perform setval(c.oid, nextval(c.oid) + 1000000)
    from pg_class c
    where c.relkind = 'S' and c.relnamespace = (select k.relnamespace from pg_class k where k.oid = 'trunkline.installation'::regclass);
    perform from trunkline.holder h order by h.subscription, h.partition for update;
    update trunkline.holder h set epoch = h.epoch + 1000000;
end $$;

create table trunkline.topic (
    id                 int generated always as identity primary key,
    name               text collate "C" not null unique,
    namespace          text collate "C",
    task               text collate "C",
    semantics          text not null check (semantics in ('QUEUE', 'PUB_SUB')),
    ordering           text not null check (ordering in ('ORDERED', 'THROUGHPUT')),
    partitions         int not null check (partitions between 1 and 1024),
    lanes              int not null check (lanes between 1 and partitions),
    levels             int not null check (levels in (1, 3)),
    retention          interval not null check (retention > '0'),
    -- After so long messages go, whoever has not handled them.
    hard_cap           interval not null default '30 days' check (hard_cap > '0'),
    -- A group that nobody serves, or that is paused, holds messages back for so long.
    zombie_ttl         interval not null default '7 days' check (zombie_ttl > '0'),
    -- The retention of a pub/sub topic without groups.
    unheard_retention  interval not null default '24 hours' check (unheard_retention > '0'),
    -- Whether it takes messages while it has no group.
    unheard            text not null default 'KEEP' check (unheard in ('KEEP', 'REFUSE')),
    -- How much is remembered of who has handled what.
    tracking           text not null default 'OFFSET_WATERMARK' check (tracking in ('OFFSET_WATERMARK', 'REFERENCE_COUNTING')),
    max_payload_bytes  int not null check (max_payload_bytes between 1 and 268435456),
    -- The same, or -1 while it takes no messages: what publishers look at anyway.
    accepts_bytes      int not null,
    segment_bytes      bigint not null check (segment_bytes >= 8192),
    segment_age        interval not null check (segment_age > '0'),
    created_at         timestamptz not null default clock_timestamp()
);

-- The append lock. A lane is locked, and updated only when its topic enters a new segment.
-- Nothing references it, so that no foreign key ever locks it.
create table trunkline.lane (
    topic    int not null,
    lane     int not null,
    segment  int not null,
    primary key (topic, lane)
);

-- A partition has one log per priority level: in the outbox and in segments, partition p at level l (0 normal, 1 high,
-- 2 low) has the number p + l * topic.partitions. A segment is the table segment_<id>. bases[p + 1] is the first offset of partition p that lies in it or
-- after it; times[p + 1] is the append time that partition p had reached when the segment was opened.
create table trunkline.segment (
    id         int generated always as identity primary key,
    topic      int not null,
    bases      bigint[] not null,
    times      timestamptz[] not null,
    opened_at  timestamptz not null default clock_timestamp()
);
create index on trunkline.segment (topic, id);

-- The shape of every segment table. A row is a frame: messages that came into a partition together, the last of them at
-- last_offset, their payloads end to end. Where an array is null, no message of the frame has what it would hold.
create table trunkline.segment_shape (
    last_offset      bigint not null,
    appended_at      timestamptz not null,
    partition        int not null,
    -- Whether the unit of the last message goes on in the next frame.
    unit_open        boolean not null,
    -- Ids and units count from here.
    base_id          bigint not null,
    ids              bigint[] not null,
    -- Null: each message is a unit of its own, with its id.
    units            bigint[],
    -- The microseconds that messages waited to be appended since they were published.
    waits            bigint[],
    lengths          int[] not null,
    keys             text[] collate "C",
    correlation_ids  text[] collate "C",
    -- One entry where all are the same.
    content_types    text[] collate "C" not null,
    -- Array literals of names and values.
    headers          text[] collate "C",
    payloads         bytea not null,
    primary key (partition, last_offset)
);
alter table trunkline.segment_shape alter column payloads set storage external;

-- The hash that picks the partition of a key; the library computes the same. The mask keeps it from being negative.
create function trunkline.partition_of(key text, partitions int) returns int
    language sql immutable parallel safe
    return ((hashtextextended(key collate "C", 0) & 9223372036854775807) % partitions)::int;

-- The place of a message in the log: by its key (or idempotency key, where it has none: a retry must meet the first try);
-- without any, the partitions of its home lane in turn, or all partitions where it has no home.
create function trunkline.place(partitions int, lanes int, key text, home int, n bigint, priority int) returns int
    language sql immutable parallel safe
    return case
        when key is not null then trunkline.partition_of(key, partitions)
        when home is null then (n % partitions)::int
        else home + lanes * (n % ((partitions - home + lanes - 1) / lanes))::int
    end + partitions * ((coalesce(priority, 0) + 3) % 3);
