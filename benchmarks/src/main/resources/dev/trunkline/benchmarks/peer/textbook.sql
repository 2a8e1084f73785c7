-- name: create
drop schema if exists trunkline_bench_textbook cascade;
create schema trunkline_bench_textbook;
create table trunkline_bench_textbook.queue (
    id          bigserial primary key,
    created_at  timestamptz not null default now(),
    due_at      timestamptz not null default now(),
    tries       int not null default 0,
    status      text not null,
    key         text not null,
    payload     bytea not null
);
create index on trunkline_bench_textbook.queue (status, id)

-- name: use
insert into trunkline_bench_textbook.queue (status, key, payload)
select 'done', 'key-' || n, decode(repeat('00', 200), 'hex') from generate_series(1, 10000) as s (n)

-- name: analyze
vacuum analyze trunkline_bench_textbook.queue

-- name: publish
insert into trunkline_bench_textbook.queue (status, key, payload)
select 'new', p.key, p.payload from unnest(?, ?) as p (key, payload)

-- name: take
select q.id, q.key, q.payload from trunkline_bench_textbook.queue q
where q.status = 'new' and q.due_at <= now() order by q.id limit # for update skip locked

-- name: finish
update trunkline_bench_textbook.queue set status = 'done' where id = any (?)

-- name: postpone
update trunkline_bench_textbook.queue
set tries = tries + 1, due_at = now() + interval '1 s', status = case when tries < 4 then 'new' else 'failed' end
where id = any (?)
