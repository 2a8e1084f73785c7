-- name: topic
select t.id, t.partitions, t.levels from trunkline.topic t where t.name = ?

-- name: segments
select s.id, s.bases from trunkline.segment s where s.topic = ? order by s.id

-- name: read
-- A row for every strand, also if nothing is found of it, with the segment that was the newest then, and the timeline of the server. The frames of a strand come by their offsets; a frame
-- out of its place would be taken for a hole. The limit, of which the planner knows no number, makes it walk the index instead of sorting whole frames.
select f.partition, f.last_offset, f.appended_at, f.unit_open, f.ids, f.units, f.waits, f.lengths, f.keys, f.correlation_ids, f.content_types, f.headers, f.payloads,
       f.base_id, w.n, (select max(g.id) from trunkline.segment g where g.topic = ?) as newest, (select trunkline.timeline()) as timeline
from unnest(?::int[], ?::bigint[]) with ordinality as w (partition, "from", n)
left join lateral (
    select s.* from trunkline.segment_# s
    where s.partition = w.partition and s.last_offset >= w."from" and s.last_offset < w."from" + ? + 100
      and s.last_offset - cardinality(s.ids) < w."from" + ? - 1
    order by s.last_offset limit (select ?::int)) f on true

-- name: bounds
select b.firsts, b.ends, trunkline.timeline() from trunkline.bounds(?) b

-- name: offsetAt
select trunkline.offset_at(?, ?, ?)

-- name: notify
select pg_notify(?, ?)
