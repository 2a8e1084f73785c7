-- A message is published by the transaction that it tells of, or not at all.

begin;
with placed as (
    insert into plain_order (customer, total) values ('ada', 12.50) returning *
)
select trunkline.publish('plain-orders', to_jsonb(placed), key => customer, headers => '{"source": "shop"}') as id from placed;
commit;

-- This order was never placed, and nobody hears of it.
begin;
with placed as (
    insert into plain_order (customer, total) values ('eve', 1000) returning *
)
select trunkline.publish('plain-orders', to_jsonb(placed), key => customer) as id from placed;
rollback;

-- Several at once, as JSON: one for later, and one that is too dear to be invoiced (see 4_dead_letters.sql).
begin;
with placed as (
    insert into plain_order (customer, total) values ('bob', 3), ('ada', 5), ('cyd', 99999) returning *
)
select trunkline.publish_json('plain-orders', jsonb_agg(jsonb_build_object('key', customer, 'payload', to_jsonb(placed)) order by id)) as ids from placed;
select trunkline.publish_json('plain-orders', '{"payload": {"id": 0, "customer": "dan", "total": 2}, "delay": "P1D"}') as ids;
commit;

-- A repeated call is one message, as long as its key is remembered: a day, by default.
select trunkline.publish('plain-orders', '{"id": 0, "customer": "dan", "total": 1}'::jsonb, idempotency_key => 'order 0 of dan');
select trunkline.publish('plain-orders', '{"id": 0, "customer": "dan", "total": 1}'::jsonb, idempotency_key => 'order 0 of dan');

-- What is committed gets its place in the log. Wherever a process of Trunkline runs, it does this by itself.
call trunkline.relay_now();

select "offset", key, json from trunkline.messages where topic = 'plain-orders';
