-- name: topic
select t.id, t.partitions, t.levels from trunkline.topic t where t.name = ?

-- name: segments
select s.id, s.bases from trunkline.segment s where s.topic = ? order by s.id

-- name: read
select m.partition, m."offset", m.id, m.unit, m.unit_end, m.key, m.headers, m.content_type, m.correlation_id, m.published_at, m.appended_at, m.payload
from unnest(?::int[], ?::bigint[]) with ordinality as w (partition, "from", n)
cross join lateral (
    select s.* from trunkline.segment_# s where s.partition = w.partition and s."offset" >= w."from" order by s."offset" limit ?) m
order by w.n, m."offset"

-- name: bounds
select b.firsts, b.ends from trunkline.bounds(?) b

-- name: offsetAt
select trunkline.offset_at(?, ?, ?)
