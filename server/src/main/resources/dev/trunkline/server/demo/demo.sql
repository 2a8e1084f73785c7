-- name: createOrders
create table trunkline.demo_orders (
    writer    int not null,
    number    bigint not null,
    customer  text not null,
    cents     int not null,
    primary key (writer, number)
)

-- name: insertOrder
insert into trunkline.demo_orders (writer, number, customer, cents) values (?, ?, ?, ?)

-- name: orders
select writer, number, customer, cents from trunkline.demo_orders

-- name: groups
select s.group_name, sum(l.lag), sum(l.cursor)
from trunkline.subscription s
join trunkline.topic t on t.id = s.topic
cross join lateral trunkline.lag(s.group_name, t.name) l
group by s.id
order by s.id

-- name: holders
select split_part(s.name, '@', 1)::bigint as process, count(*)::int
from trunkline.holder h
join trunkline.session s on s.id = h.session and s.ended_at is null
group by process

-- name: deadLetters
select s.group_name, d.payload, d.attempts, d.error
from trunkline.dead_letter d
join trunkline.subscription s on s.id = d.subscription
order by d.id

-- name: parked
select s.group_name, count(*)
from trunkline.parked p
join trunkline.subscription s on s.id = p.subscription
group by s.group_name

-- name: cleanUp
do $$
declare
    schema text := rtrim('trunkline.', '.');
    role text;
begin
    if to_regnamespace(schema) is null then
        return; -- there is none
    end if;
    execute format('drop schema %I cascade', schema);
    for role in
        select r.rolname from pg_roles r where r.rolname in (schema || '_owner', schema || '_app', schema || '_reader')
    loop
        execute format('drop role %I', role);
    end loop;
end $$
