-- name: subscribe
select s.subscription from trunkline.subscribe_pull(
    ?, ?, ?, ?, ?, coalesce(?::timestamptz, clock_timestamp() - ?::interval), ?) s

-- name: pop
select p.token, p.partition, p.priority, p."offset", p.message_id, p.unit, p.unit_end, p.key, p.headers, p.correlation_id, p.content_type, p.payload,
       p.published_at, p.appended_at, p.attempt, p.epoch, p.expires_at
from trunkline.pop(?, ?, ?, ? * interval '1 microsecond') p

-- name: ack
select trunkline.ack(?, ?, ?)

-- name: nack
select trunkline.nack(?, ?, ? * interval '1 microsecond', ?, ?)

-- name: reject
select trunkline.reject(?, ?, ?, ?)

-- name: extend
select trunkline.extend(?, ? * interval '1 microsecond', ?)
