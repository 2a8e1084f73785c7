-- Written for the schema trunkline; the schema of an installation is put in its place. Baselines live in
-- trunkline_bench_raw. Their tables are spared autovacuum, as segments are, so that none falls into a measurement.

-- name: leftovers
select n.nspname from pg_namespace n where n.nspname like 'trunkline\_bench%' order by n.nspname

-- name: leftoverRoles
select r.rolname from pg_roles r where r.rolname like 'trunkline\_bench%' order by r.rolname

-- name: dropSchema
drop schema if exists "#" cascade

-- name: dropRole
drop role if exists "#"

-- name: createRaw
create schema trunkline_bench_raw

-- name: weakness
select coalesce(string_agg(s.name || '=' || s.setting, ', '), '')
from pg_settings s
where s.name in ('fsync', 'synchronous_commit', 'full_page_writes') and s.setting in ('off', 'local')

-- name: createRows
create table trunkline_bench_raw.# (
    "offset"        bigint not null,
    id              bigint not null,
    unit            bigint not null,
    appended_at     timestamptz not null,
    published_at    timestamptz not null,
    partition       int not null,
    unit_end        boolean not null,
    key             text collate "C",
    correlation_id  text collate "C",
    content_type    text collate "C" not null,
    headers         text[],
    payload         bytea not null,
    primary key (partition, "offset")
) with (autovacuum_enabled = off)

-- name: insertUnnest
insert into trunkline_bench_raw.#
    ("offset", id, unit, appended_at, published_at, partition, unit_end, key, correlation_id, content_type, headers, payload)
select m.id, m.id, m.id, now(), now(), m.partition, true, m.key, null, ?, null, m.payload
from unnest(?, ?, ?, ?) as m (id, partition, key, payload)

-- name: insertRow
insert into trunkline_bench_raw.#
    ("offset", id, unit, appended_at, published_at, partition, unit_end, key, correlation_id, content_type, headers, payload)
values (?, ?, ?, now(), now(), ?, true, ?, null, ?, null, ?)

-- name: analyzeRows
vacuum analyze trunkline_bench_raw.#

-- name: fetchRows
select r."offset", r.id, r.unit, r.appended_at, r.published_at, r.partition, r.unit_end,
       r.key, r.correlation_id, r.content_type, r.headers, r.payload
from trunkline_bench_raw.# r
order by r.partition, r."offset"

-- name: kept
select sum(o."end" - o.first)
from trunkline.topic t
cross join lateral trunkline.bounds(t.id) b
cross join lateral unnest(b.firsts, b.ends) as o (first, "end")
where t.name = ?

-- name: schemaBytes
select coalesce(sum(pg_total_relation_size(c.oid)), 0) from pg_class c
where c.relkind = 'r' and c.relnamespace = to_regnamespace(?)

-- name: deadest
select u.relname, 100.0 * u.n_dead_tup / (u.n_live_tup + u.n_dead_tup) as dead
from pg_stat_user_tables u
where u.schemaname = ? and u.n_live_tup + u.n_dead_tup >= ?
order by dead desc limit 1

-- name: dueForVacuum
-- As autovacuum decides by default.
select format('%I.%I', u.schemaname, u.relname)
from pg_stat_user_tables u join pg_class c on c.oid = u.relid
where u.schemaname = ? and u.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
  and not coalesce(c.reloptions @> array['autovacuum_enabled=off'], false)

-- name: tellDurations
-- The driver takes a word with BEGIN for an error: this is for single statements.
set client_min_messages = log;
set log_duration = on

-- name: keepDurations
set log_duration = off

-- name: vacuum
vacuum (analyze) #

-- name: createBusiness
create table trunkline_bench_raw.business_# (
    id         bigint generated always as identity primary key,
    customer   text not null,
    amount     numeric(12, 2) not null,
    placed_at  timestamptz not null default now()
) with (autovacuum_enabled = off)

-- name: insertBusiness
insert into trunkline_bench_raw.business_# (customer, amount) values (?, ?)

-- name: countBusiness
select count(*) from trunkline_bench_raw.business_#

-- name: createOutbox
create table trunkline_bench_raw.outbox (
    id               bigint generated always as identity primary key,
    published_at     timestamptz not null default now(),
    due_at           timestamptz,
    topic            int not null,
    partition        int not null,
    key              text collate "C",
    idempotency_key  text collate "C",
    correlation_id   text collate "C",
    content_type     text collate "C" not null,
    headers          text[],
    payload          bytea not null
) with (autovacuum_enabled = off)

-- name: insertOutbox
insert into trunkline_bench_raw.outbox
    (due_at, topic, partition, key, idempotency_key, correlation_id, content_type, headers, payload)
values (null, ?, ?, ?, null, null, ?, null, ?)

-- name: createOutboxCopy
create table trunkline_bench_raw.outbox_copy (like trunkline.outbox_0) with (autovacuum_enabled = off)

-- name: copyOutbox
insert into trunkline_bench_raw.outbox_copy
select o.* from trunkline.outbox o where o.id > ?

-- name: emptyOutboxCopy
truncate trunkline_bench_raw.outbox_copy

-- name: lastOutboxId
select coalesce(max(o.id), 0) from trunkline.outbox o

-- name: moveCopy
insert into trunkline_bench_raw.#
    ("offset", id, unit, appended_at, published_at, partition, unit_end, key, correlation_id, content_type, headers, payload)
select c.id, c.id, c.id, now(), c.published_at, c.partition, true, c.key, c.correlation_id, c.content_type, c.headers, c.payload
from trunkline_bench_raw.outbox_copy c
order by c.id

-- name: createHeld
create table trunkline_bench_raw.held (at timestamptz not null default now())

-- name: insertHeld
insert into trunkline_bench_raw.held default values

-- name: topicId
select t.id from trunkline.topic t where t.name = ?

-- name: segments
select s.id from trunkline.segment s join trunkline.topic t on t.id = s.topic where t.name = ? order by s.id

-- name: countSegment
select coalesce(sum(cardinality(f.ids)), 0) from trunkline.segment_# f

-- name: segmentBytes
select pg_total_relation_size('trunkline.segment_#')

-- name: topicBytes
select coalesce(sum(pg_total_relation_size(to_regclass(format('trunkline.segment_%s', s.id)))), 0)
from trunkline.segment s join trunkline.topic t on t.id = s.topic
where t.name = ?

-- name: segmentStatistic
select coalesce(sum(u.#), 0)
from trunkline.segment s
join trunkline.topic t on t.id = s.topic
join pg_stat_user_tables u on u.relid = to_regclass(format('trunkline.segment_%s', s.id))
where t.name = ?

-- name: rollSegment
select trunkline.roll_segment(?)

-- name: dropSegment
select trunkline.drop_segment(?, (select s.bases from trunkline.segment s where s.topic = ? order by s.id desc limit 1))

-- name: notify
select pg_notify('trunkline_bench_raw', ?)

-- name: listen
listen trunkline_bench_raw

-- name: connections
select a.pid from pg_stat_activity a where a.datname = current_database() and a.application_name = 'trunkline'

-- name: rowsWritten
select coalesce(sum(t.n_tup_ins + t.n_tup_upd + t.n_tup_del), 0)
from pg_stat_user_tables t
where to_regclass(format('trunkline.%I', t.relname)) = t.relid

-- name: subscribe
select s.created from trunkline.subscribe(?, ?, 'BEGINNING') s

-- name: ahead
select coalesce(sum(l.lag), 0) from trunkline.lag(?, ?) l

-- name: done
select coalesce(sum(l.cursor), 0) from trunkline.lag(?, ?) l

-- name: walPosition
select pg_current_wal_insert_lsn() - '0/0'::pg_lsn

-- name: createAccounts
create table trunkline_bench_raw.account (
    id       int primary key,
    balance  bigint not null default 0,
    filler   char(84) not null default ''
) with (autovacuum_enabled = off, fillfactor = 90);
create table trunkline_bench_raw.change (
    account  int not null,
    amount   int not null,
    at       timestamptz not null default now()
) with (autovacuum_enabled = off)

-- name: fillAccounts
insert into trunkline_bench_raw.account (id) select n from generate_series(1, #) as s (n)

-- name: analyzeAccounts
vacuum analyze trunkline_bench_raw.account

-- name: changeAccount
update trunkline_bench_raw.account set balance = balance + ? where id = ?

-- name: readAccount
select a.balance from trunkline_bench_raw.account a where a.id = ?

-- name: noteChange
insert into trunkline_bench_raw.change (account, amount) values (?, ?)

-- name: balance
select coalesce(sum(a.balance), 0) from trunkline_bench_raw.account a

-- name: countChanges
select count(*) from trunkline_bench_raw.change

-- name: difference
select (select coalesce(sum(a.balance), 0) from trunkline_bench_raw.account a) - (select coalesce(sum(c.amount), 0) from trunkline_bench_raw.change c)
