-- name: subscribe
select s.subscription from trunkline.subscribe_pull(
    ?, ?, ?, ?, ?, coalesce(?::timestamptz, clock_timestamp() - ?::interval), ?, ?) s

-- name: subscribeWildcard
select trunkline.subscribe_wildcard(
    ?, ?, ?, ?, ?, coalesce(?::timestamptz, clock_timestamp() - ?::interval), 'PULL', a_attempts => ?, a_stop_key => ?)

-- name: topicsOf
select array(select t.topic from trunkline.topics_of(?) t)

-- name: pop
select (p.frame).partition, (p.frame).last_offset, (p.frame).appended_at, (p.frame).unit_open, (p.frame).ids, (p.frame).units, (p.frame).waits,
       (p.frame).lengths, (p.frame).keys, (p.frame).correlation_ids, (p.frame).content_types, (p.frame).headers, (p.frame).payloads, (p.frame).base_id,
       p.token, p.epoch, p.expires_at, p.partition, p.priority, p.attempt, p.offsets
from trunkline.pop_frames(?, ?, ?, ? * interval '1 microsecond') p

-- name: ack
select trunkline.ack(?, ?, ?, ?)

-- name: nack
select trunkline.nack(?, ?, ? * interval '1 microsecond', ?, ?, ?)

-- name: release
select trunkline.release(?, ?, ?, ?)

-- name: reject
select trunkline.reject(?, ?, ?, ?, ?)

-- name: extend
select trunkline.extend(?, ? * interval '1 microsecond', ?, ?)
