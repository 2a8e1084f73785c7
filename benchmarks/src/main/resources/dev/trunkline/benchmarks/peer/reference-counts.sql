-- name: create
-- These tables are vacuumed. Their updates are made within a page if the page has room: the counters are in no index.
drop schema if exists trunkline_bench_counts cascade;
create schema trunkline_bench_counts;
create table trunkline_bench_counts.subscription (
    topic       text not null,
    group_name  text not null,
    status      text not null default 'ACTIVE',
    primary key (topic, group_name)
);
create table trunkline_bench_counts.message (
    id                         bigint generated always as identity primary key,
    required_consumer_groups   int not null,
    completed_consumer_groups  int not null default 0,
    created_at                 timestamptz not null default now(),
    processed_at               timestamptz,
    status                     text not null default 'PENDING',
    topic                      text not null,
    key                        text not null,
    payload                    bytea not null
) with (fillfactor = 50);
create index on trunkline_bench_counts.message (topic, id) where status = 'PENDING';
create index on trunkline_bench_counts.message (processed_at) where status = 'COMPLETED';
create table trunkline_bench_counts.acknowledgement (
    message_id    bigint not null,
    processed_at  timestamptz not null default now(),
    group_name    text not null,
    primary key (message_id, group_name)
);
create function trunkline_bench_counts.count_groups() returns trigger language plpgsql as $$
begin
    new.required_consumer_groups := (
        select count(*) from trunkline_bench_counts.subscription s
        where s.topic = new.topic and s.status = 'ACTIVE');
    return new;
end $$;
create trigger count_groups before insert on trunkline_bench_counts.message
for each row execute function trunkline_bench_counts.count_groups()

-- name: subscribe
insert into trunkline_bench_counts.subscription (topic, group_name)
select 'bench', 'group-' || n from generate_series(0, # - 1) as g (n)

-- name: publish
insert into trunkline_bench_counts.message (topic, key, payload)
select 'bench', p.key, p.payload from unnest(?, ?) as p (key, payload)

-- name: fetch
select m.id, m.key, m.payload
from trunkline_bench_counts.message m
where m.topic = 'bench' and m.status = 'PENDING' and m.id <> all (?) and not exists (
    select from trunkline_bench_counts.acknowledgement a where a.message_id = m.id and a.group_name = ?)
order by m.id limit # for update of m skip locked

-- name: acknowledge
insert into trunkline_bench_counts.acknowledgement (message_id, group_name)
select i.id, ? from unnest(?) as i (id)
on conflict do nothing

-- name: complete
update trunkline_bench_counts.message m
set completed_consumer_groups = m.completed_consumer_groups + 1,
    status = case when m.completed_consumer_groups + 1 >= m.required_consumer_groups then 'COMPLETED' else m.status end,
    processed_at = case when m.completed_consumer_groups + 1 >= m.required_consumer_groups then now() end
where m.id = any (?)

-- name: delete
delete from trunkline_bench_counts.message m
where m.id = any (array(
    select c.id from trunkline_bench_counts.message c
    where c.status = 'COMPLETED' and c.processed_at < now() - ? * interval '1 second'
    order by c.processed_at limit # for update skip locked))
returning m.id

-- name: deleteAcknowledgements
delete from trunkline_bench_counts.acknowledgement a where a.message_id = any (?)

-- name: acknowledgedBy
select count(*) from trunkline_bench_counts.acknowledgement a where a.group_name = ?
