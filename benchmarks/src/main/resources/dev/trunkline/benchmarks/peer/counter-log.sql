-- name: create
drop schema if exists trunkline_bench_counter_log cascade;
create schema trunkline_bench_counter_log;
create table trunkline_bench_counter_log.log (
    log_offset   bigint primary key,
    created_at   timestamptz not null default now(),
    key          text not null,
    payload      bytea not null
);
create table trunkline_bench_counter_log.log_counter (
    next_offset  bigint not null
);
create table trunkline_bench_counter_log.consumer_offsets (
    group_number int primary key,
    next_offset  bigint not null
);
insert into trunkline_bench_counter_log.log_counter values (1);
create function trunkline_bench_counter_log.tell() returns trigger language plpgsql as $$
begin
    perform pg_notify('trunkline_bench_counter_log', '');
    return null;
end
$$;
create trigger tell after insert on trunkline_bench_counter_log.log
for each statement execute function trunkline_bench_counter_log.tell()

-- name: publish
with given as (
    select ?::text[] as keys, ?::bytea[] as payloads
), reserved as (
    update trunkline_bench_counter_log.log_counter c
    set next_offset = c.next_offset + cardinality(g.keys)
    from given g
    returning c.next_offset - cardinality(g.keys) as first, g.keys, g.payloads
)
insert into trunkline_bench_counter_log.log (log_offset, key, payload)
select r.first + p.place - 1, p.key, p.payload
from reserved r, unnest(r.keys, r.payloads) with ordinality as p (key, payload, place)

-- name: use
with reserved as (
    update trunkline_bench_counter_log.log_counter set next_offset = next_offset + 10000 returning next_offset - 10000 as first
)
insert into trunkline_bench_counter_log.log (log_offset, key, payload)
select r.first + n, 'key-' || n, decode(repeat('00', 200), 'hex') from reserved r, generate_series(0, 9999) as s (n)

-- name: analyze
vacuum analyze trunkline_bench_counter_log.log

-- name: subscribe
insert into trunkline_bench_counter_log.consumer_offsets (group_number, next_offset)
select s.n, c.next_offset from trunkline_bench_counter_log.log_counter c, generate_series(0, # - 1) as s (n)

-- name: listen
listen trunkline_bench_counter_log

-- name: take
with mine as materialized (
    select g.next_offset as first, least(g.next_offset + 500, c.next_offset) as next
    from trunkline_bench_counter_log.consumer_offsets g, trunkline_bench_counter_log.log_counter c
    where g.group_number = # and g.next_offset < c.next_offset
    for update of g
), claimed as (
    update trunkline_bench_counter_log.consumer_offsets g set next_offset = m.next from mine m where g.group_number = #
)
select l.log_offset, l.key, l.payload from trunkline_bench_counter_log.log l
where l.log_offset >= (select m.first from mine m) and l.log_offset < (select m.next from mine m)
order by l.log_offset
