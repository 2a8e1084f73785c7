-- A topic and the group that is going to be pulled from, once; and the tables of a shop.
-- Run these files in order, as a member of trunkline_app: psql -v ON_ERROR_STOP=1 -f 1_topic.sql -f 2_publish.sql -f 3_pull.sql -f 4_dead_letters.sql

-- A queue with one partition, so that one pop sees all of it; in earnest, leave it at 16.
select trunkline.create_topic('plain-orders', partitions => 1)
where not exists (select from trunkline.topics where name = 'plain-orders');

-- The one group of a queue is called shared. A message is tried twice.
select * from trunkline.subscribe_pull('shared', 'plain-orders', 'BEGINNING', a_attempts => 2);

create table if not exists plain_order (id int generated always as identity primary key, customer text not null, total numeric not null);

-- No unique key: that each order has one invoice is Trunkline's promise.
create table if not exists plain_invoice (order_id int not null, customer text not null, total numeric not null);
