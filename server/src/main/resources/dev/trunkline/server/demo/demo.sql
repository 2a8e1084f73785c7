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
select writer, number from demo_orders

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
