-- A batch is nobody else's for as long as its lease. Done and its effect are one transaction: each order is invoiced once, whoever is killed when.

create temporary table batch as
select token, "offset", convert_from(payload, 'UTF8')::jsonb as placed from trunkline.pop('shared', 'plain-orders', 100, '30 seconds');

begin;
insert into plain_invoice (order_id, customer, total)
select (placed ->> 'id')::int, placed ->> 'customer', (placed ->> 'total')::numeric from batch where (placed ->> 'total')::numeric < 10000;
select trunkline.ack(min(token), array_agg("offset")) as offsets_left from batch where (placed ->> 'total')::numeric < 10000;
commit;

-- The rest goes back, and comes again: after a second, say, or at once.
select trunkline.nack(min(token), array_agg("offset"), a_delay => '0', a_error => 'too dear') as offsets_left
from batch where (placed ->> 'total')::numeric >= 10000;

drop table batch;

select * from plain_invoice order by order_id;
select partition, cursor, end_offset, lag from trunkline.lag('shared', 'plain-orders');
