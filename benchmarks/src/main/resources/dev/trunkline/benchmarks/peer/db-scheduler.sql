-- name: create
drop schema if exists trunkline_bench_db_scheduler cascade;
create schema trunkline_bench_db_scheduler;
create table trunkline_bench_db_scheduler.scheduled_tasks (
    task_name            text not null,
    task_instance        text not null,
    task_data            bytea,
    execution_time       timestamptz,
    picked               boolean not null,
    picked_by            text,
    last_success         timestamptz,
    last_failure         timestamptz,
    consecutive_failures int,
    last_heartbeat       timestamptz,
    version              bigint not null,
    priority             smallint,
    state                text,
    primary key (task_name, task_instance)
);
create index on trunkline_bench_db_scheduler.scheduled_tasks (execution_time);
create index on trunkline_bench_db_scheduler.scheduled_tasks (last_heartbeat)

-- name: use
insert into trunkline_bench_db_scheduler.scheduled_tasks (task_name, task_instance, task_data, execution_time, picked, version)
select 'letter', 'used-' || n, decode(repeat('00', 200), 'hex'), now(), false, 1 from generate_series(1, 20000) as s (n)

-- name: analyze
vacuum analyze trunkline_bench_db_scheduler.scheduled_tasks

-- name: empty
delete from trunkline_bench_db_scheduler.scheduled_tasks
