-- name: subscribe
select s.subscription from trunkline.subscribe_pull(
    ?, ?, ?, ?, ?, coalesce(?::timestamptz, clock_timestamp() - ?::interval), ?, ?) s

-- name: subscribeWildcard
select trunkline.subscribe_wildcard(
    ?, ?, ?, ?, ?, coalesce(?::timestamptz, clock_timestamp() - ?::interval), 'PULL', a_attempts => ?, a_stop_key => ?)

-- name: topicsOf
select array(select t.topic from trunkline.topics_of(?) t)

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
