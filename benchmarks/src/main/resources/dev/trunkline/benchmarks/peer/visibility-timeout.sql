-- name: create
drop schema if exists trunkline_bench_visibility cascade;
create schema trunkline_bench_visibility;
create table trunkline_bench_visibility.queue (
    msg_id       bigint generated always as identity primary key,
    read_ct      int not null default 0,
    enqueued_at  timestamptz not null default now(),
    vt           timestamptz not null default now(),
    key          text not null,
    message      bytea not null
);
create index on trunkline_bench_visibility.queue (vt)

-- name: use
insert into trunkline_bench_visibility.queue (key, message)
select 'key-' || n, decode(repeat('00', 200), 'hex') from generate_series(1, 10000) as s (n)

-- name: analyze
vacuum analyze trunkline_bench_visibility.queue

-- name: empty
delete from trunkline_bench_visibility.queue

-- name: publish
insert into trunkline_bench_visibility.queue (key, message)
select p.key, p.message from unnest(?, ?) as p (key, message)

-- name: read
with visible as materialized (
    select q.msg_id from trunkline_bench_visibility.queue q
    where q.vt <= clock_timestamp() order by q.msg_id limit 100 for update skip locked
)
update trunkline_bench_visibility.queue q
set vt = clock_timestamp() + interval '30 s', read_ct = q.read_ct + 1
where q.msg_id = any (array(select v.msg_id from visible v))
returning q.msg_id, q.key, q.message

-- name: acknowledge
delete from trunkline_bench_visibility.queue where msg_id = any (?)

-- name: postpone
with failed as (
    select q.msg_id, q.read_ct from trunkline_bench_visibility.queue q where q.msg_id = any (?)
), given_up as (
    delete from trunkline_bench_visibility.queue q using failed f where q.msg_id = f.msg_id and f.read_ct >= 5
)
update trunkline_bench_visibility.queue q
set vt = clock_timestamp() + interval '1 s'
from failed f
where q.msg_id = f.msg_id and f.read_ct < 5
