-- All of them run with the demo's schema as search_path.

-- name: createOrders
create table demo_orders (
    writer    int not null,
    number    bigint not null,
    customer  text not null,
    cents     int not null,
    primary key (writer, number)
)

-- name: insertOrder
insert into demo_orders (writer, number, customer, cents) values (?, ?, ?, ?)

-- name: orders
select writer, number, customer, cents from demo_orders

-- name: groups
select s.group_name, sum(l.lag), sum(l.cursor)
from subscription s
join topic t on t.id = s.topic
cross join lateral lag(s.group_name, t.name) l
group by s.id
order by s.id

-- name: holders
select split_part(s.name, '@', 1)::bigint as process, count(*)::int
from holder h
join session s on s.id = h.session and s.ended_at is null
group by process

-- name: deadLetters
select s.group_name, d.payload, d.attempts, d.error
from dead_letter d
join subscription s on s.id = d.subscription
order by d.id

-- name: parked
select s.group_name, count(*)
from parked p
join subscription s on s.id = p.subscription
group by s.group_name

-- name: cleanUp
do $$
declare
    schema text := current_schema();
    role text;
begin
    if schema is null then
        return; -- there is none
    end if;
    execute format('drop schema %I cascade', schema);
    for role in
        select r.rolname from pg_roles r where r.rolname in (schema || '_owner', schema || '_app', schema || '_reader')
    loop
        execute format('drop role %I', role);
    end loop;
end $$
