import pg from 'pg'

const client = new pg.Client()
await client.connect()
await client.query(`
  select trunkline.create_topic('node-orders', partitions => 4)
  where not exists (select from trunkline.topics where name = 'node-orders')`)
await client.query(`select trunkline.subscribe_pull('shared', 'node-orders', 'BEGINNING')`)
await client.query(`
  create table if not exists node_order (id int generated always as identity primary key, customer text not null);
  create table if not exists node_invoice (id int generated always as identity primary key, order_id int not null, customer text not null)`)
await client.end()
