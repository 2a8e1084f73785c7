-- name: insert
insert into trunkline.outbox_#
    (id, topic, lane, partition, due_at, key, idempotency_key, correlation_id, content_type, headers, payload)
select n.id, t.id, p.place % t.partitions % t.lanes, p.place, n.due_at, n.key, n.idempotency_key, n.correlation_id, n.content_type, n.headers, n.payload
from (
    select nextval('trunkline.message_id') as id, ?::text as topic, ?::bytea as payload, ?::text as key, ?::text[] as headers,
           ?::text as content_type, ?::text as correlation_id, ?::int as priority, trunkline.due(?::text) as due_at,
           ?::text as idempotency_key) n
join trunkline.topic t on t.name = n.topic and octet_length(n.payload) <= t.accepts_bytes and (n.priority = 0 or t.levels > 1)
cross join lateral (
    select trunkline.place(t.partitions, t.lanes, coalesce(n.key, n.idempotency_key), null, n.id / 2, n.priority) as place) p
where current_setting('trunkline.adopted', true) = current_database()
returning id

-- name: enqueue
select trunkline.enqueue(?, ?, ?, ?::text[], ?, ?, ?, trunkline.due(?), ?), (select i.outbox_slot from trunkline.installation i)

-- name: publishAll
select trunkline.publish_all(
    topic => ?, payloads => ?, keys => ?, headers => ?, content_types => ?, correlation_ids => ?, priorities => ?, deliver_ats => ?,
    idempotency_keys => ?)

-- name: limit
select t.max_payload_bytes from trunkline.topic t where t.name = ?

-- name: pending
select p.topics, p.next_due, p.slot, pg_current_snapshot()::text, clock_timestamp()::text from trunkline.pending(?::pg_snapshot, ?::timestamptz) p

-- name: relay
select trunkline.relay(t.id), t.name from trunkline.topic t where t.id = ?

-- name: relayWaiting
select trunkline.relay_waiting(t.id, ?::pg_snapshot, ?::timestamptz), t.name from trunkline.topic t where t.id = ?

-- name: topic
select t.name from trunkline.topic t where t.id = ?
