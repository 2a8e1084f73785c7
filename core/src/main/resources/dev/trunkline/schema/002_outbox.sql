-- Where messages wait for their offset: the outbox (until the relay comes), delayed (until due).
-- A row's transaction is its stamp xid. Rows are never updated or deleted: a slot is truncated as a whole.

-- Ids of messages that go through the outbox are odd and grow with time: the relay orders by them. Those of messages that
-- are appended directly are even, and count from the number of their batch times 2^20.
create sequence trunkline.message_id as bigint increment by 2 start with 1 cache 1;
create sequence trunkline.batch_id as bigint cache 1;

do $$
begin
    for slot in 0 .. 3 loop
        execute format($ddl$
            create table trunkline.outbox_%1$s (
                id               bigint not null default nextval('trunkline.message_id'),
                xid              xid8 not null default pg_current_xact_id(),
                unit             bigint,
                published_at     timestamptz not null default clock_timestamp(),
                due_at           timestamptz,
                topic            int not null,
                lane             int not null,
                partition        int not null,
                key              text collate "C",
                idempotency_key  text collate "C",
                correlation_id   text collate "C",
                content_type     text collate "C" not null,
                headers          text[],
                payload          bytea not null
            ) with (autovacuum_enabled = off, toast.autovacuum_enabled = off);
            alter table trunkline.outbox_%1$s alter column payload set storage external;
            create index outbox_%1$s_difference on trunkline.outbox_%1$s (topic, lane, xid, id);
        $ddl$, slot);
    end loop;
end $$;

-- Messages for later, taken from the outbox by the relay and appended by it once they are due.
create table trunkline.delayed (like trunkline.outbox_0);
alter table trunkline.delayed alter column payload set storage external;
create index delayed_by_due on trunkline.delayed (topic, lane, due_at, unit, id);

-- All slots. The relay looks in all of them, always: the current slot is only a hint.
create view trunkline.outbox as
    select * from trunkline.outbox_0
    union all
    select * from trunkline.outbox_1
    union all
    select * from trunkline.outbox_2
    union all
    select * from trunkline.outbox_3;

-- How far a lane was relayed: every outbox row visible in snapshot is in the log or in delayed, and every delayed
-- row up to (due, due_unit, due_id) is in the log: many can be due at one time. A difference too large for one run is fixed
-- as (snapshot, upto] and appended up to (after_unit, after_id).
create table trunkline.mark (
    topic       int not null,
    lane        int not null,
    no          bigint generated always as identity,
    snapshot    pg_snapshot not null,
    due         timestamptz not null,
    due_unit    bigint not null default 9223372036854775807,
    due_id      bigint not null default 9223372036854775807,
    upto        pg_snapshot,
    after_unit  bigint,
    after_id    bigint,
    marked_at   timestamptz not null default clock_timestamp(),
    primary key (topic, lane, no)
);

create table trunkline.idempotency_0 (
    topic      int not null,
    partition  int not null,
    key        text collate "C" not null,
    id         bigint not null,
    primary key (topic, partition, key)
);
create table trunkline.idempotency_1 (like trunkline.idempotency_0 including all);
