-- name: topics
select t.id, t.name, t.partitions, t.levels from trunkline.topic t order by t.name

-- name: exists
select exists (select from trunkline.topic t where t.id = ?)

-- name: oneSnapshot
set transaction isolation level repeatable read, read only

-- name: lockSlots
lock table trunkline.progress_0, trunkline.progress_1, trunkline.idempotency_0, trunkline.idempotency_1 in access share mode

-- name: topic
select v.strand, v."from", v."to", v.problem from trunkline.verify_topic(?) v

-- name: relayed
select v.strand, v."from", v."to", v.problem from trunkline.verify_relayed(?) v

-- name: installation
select v from trunkline.verify_installation() v

-- name: segments
select s.id, s.bases, s.times from trunkline.segment s where s.topic = ? order by s.id

-- name: segmentExists
select exists (select from trunkline.segment s where s.id = ?)

-- name: ids
select v.strand, v."from", v."to", v.id from trunkline.verify_ids(?) v

-- name: frames
select f.strand, f.first_offset, f.last_offset, f.appended_at, f.flaw from trunkline.verify_frames(?, ?, ?, ?, ?) f
