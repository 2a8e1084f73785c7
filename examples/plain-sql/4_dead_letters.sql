-- The second failure is the last: the message becomes a dead letter, and what comes after it on its key waits.

create temporary table batch as
select token, attempt from trunkline.pop('shared', 'plain-orders', 100, '30 seconds');
select attempt, trunkline.nack(token, a_error => 'too dear, still') as offsets_left from batch limit 1;
drop table batch;

select id, key, attempts, error, history, text from trunkline.dead_letters where topic = 'plain-orders';

-- Why is it where it is?
select x.* from trunkline.dead_letters d cross join lateral trunkline.explain('shared', 'plain-orders', d.message_id) x where d.topic = 'plain-orders';

-- What can be mended is handled again, first in the line of its key; what can not is discarded, and its key goes on.
select trunkline.redrive('shared', 'plain-orders') as redriven;

create temporary table batch as
select token, message_id, convert_from(payload, 'UTF8')::jsonb as placed from trunkline.pop('shared', 'plain-orders', 100, '30 seconds');
begin;
insert into plain_invoice (order_id, customer, total) select (placed ->> 'id')::int, placed ->> 'customer', 9999 from batch;
select trunkline.ack(token) as offsets_left from batch limit 1;
commit;

-- Who has handled it?
select a.* from batch b cross join lateral trunkline.audit('plain-orders', b.message_id) a;
drop table batch;

-- Where a group would be after a move: nothing is moved.
select * from trunkline.seek('shared', 'plain-orders', 'BEGINNING', a_dry_run => true);
select group_name, topic, status, pending, done, dead_letters from trunkline.groups where topic = 'plain-orders';
