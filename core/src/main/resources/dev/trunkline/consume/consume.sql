-- name: subscribe
select s.subscription, t.id, t.partitions, t.levels, t.ordering
from trunkline.subscribe(?, ?, ?) s, trunkline.topic t
where t.name = ?

-- name: beginSession
select trunkline.begin_session(?)

-- name: beat
select trunkline.beat(?)

-- name: sessions
select s.id, s.beat from trunkline.session s where s.ended_at is null and s.id <> ?

-- name: endSession
select trunkline.end_session(?, ?)

-- name: join
select trunkline.join_group(?, ?)

-- name: leave
select trunkline.leave_group(?, ?)

-- name: shares
select s.status, s.partitions, s.sessions, s.counts from trunkline.shares(?) s

-- name: take
select t.partition, t.epoch from trunkline.take(?, ?, ?) t

-- name: done
select d.strand, array(select lower(r) from unnest(d.done) r order by 1), array(select upper(r) from unnest(d.done) r order by 1)
from trunkline.done(?, ?) d
order by d.strand

-- name: attempts
select a.strand, a."offset", a.attempts from trunkline.attempt a where a.subscription = ? and a.strand = any (?)

-- name: release
select trunkline.release(?, ?, ?)

-- name: releaseAllBut
select trunkline.release_all_but(?, ?, ?)

-- name: record
select trunkline.record(?, ?, ?, ?, ?, ?, ?)

-- name: bury
select trunkline.bury(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: noteFailure
select trunkline.note_failure(?, ?, ?, ?, ?)

-- name: forgetFailures
select trunkline.forget_failures(?, ?, ?)

-- name: setStatus
select trunkline.set_status(?, ?)

-- name: mark
select set_config('trunkline.delivery', ?, true) is not null

-- name: fence
select trunkline.fence(?, ?, ?, ?, ?, ?, ?)

-- name: recorded
select trunkline.recorded(?, ?, ?, ?, ?)
