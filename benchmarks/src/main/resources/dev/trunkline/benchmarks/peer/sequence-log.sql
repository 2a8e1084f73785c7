-- name: create
drop schema if exists trunkline_bench_sequence_log cascade;
create schema trunkline_bench_sequence_log;
create table trunkline_bench_sequence_log.log (
    id           bigserial primary key,
    created_at   timestamptz not null default now(),
    key          text not null,
    payload      bytea not null
);
create table trunkline_bench_sequence_log.seen (
    group_number int primary key,
    last_id      bigint not null
)

-- name: publish
insert into trunkline_bench_sequence_log.log (key, payload)
select p.key, p.payload from unnest(?, ?) as p (key, payload)

-- name: use
insert into trunkline_bench_sequence_log.log (key, payload)
select 'key-' || n, decode(repeat('00', 200), 'hex') from generate_series(1, 10000) as s (n)

-- name: analyze
vacuum analyze trunkline_bench_sequence_log.log

-- name: subscribe
insert into trunkline_bench_sequence_log.seen (group_number, last_id)
select s.n, (select max(l.id) from trunkline_bench_sequence_log.log l) from generate_series(0, # - 1) as s (n)

-- name: take
with mine as materialized (
    select s.last_id from trunkline_bench_sequence_log.seen s
    where s.group_number = # and s.last_id < (select max(l.id) from trunkline_bench_sequence_log.log l)
    for update of s
), found as materialized (
    select l.id, l.key, l.payload from trunkline_bench_sequence_log.log l
    where l.id > (select m.last_id from mine m) order by l.id limit 500
), advanced as (
    update trunkline_bench_sequence_log.seen s set last_id = f.id
    from (select max(id) as id from found) f
    where s.group_number = # and f.id is not null
)
select f.id, f.key, f.payload from found f order by f.id
