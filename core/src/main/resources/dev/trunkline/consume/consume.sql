-- name: subscribe
select s.subscription, t.partitions, t.levels, t.ordering, s.keyed
from trunkline.subscribe(
        ?, ?, ?, 'HANDLER', coalesce(?::timestamptz, clock_timestamp() - ?::interval), ?, ?::interval, ?, ?) s,
    trunkline.topic t
where t.name = ?

-- name: rejoin
select s.subscription, t.partitions, t.levels, t.ordering, s.keyed
from trunkline.rejoin(?, ?, ?::interval, ?) s, trunkline.topic t
where t.name = ?

-- name: subscribeWildcard
select trunkline.subscribe_wildcard(
    ?, ?, ?, ?, ?, coalesce(?::timestamptz, clock_timestamp() - ?::interval), a_dead_after => ?::interval, a_bound => ?)

-- name: topicsOf
select t.topic, t.subscription from trunkline.topics_of(?) t

-- name: cancelWildcard
select trunkline.cancel_wildcard(?, ?, ?, ?)

-- name: wildcards
select w.group_name, w.namespace, w.task, w.name, w.topics, w.created_at
from trunkline.wildcards w
order by w.group_name, w.id

-- name: keys
select k.partition, k.key, k.starts from trunkline.wanted_key k where k.subscription = ? and k.partition = any (?)

-- name: beginSession
select trunkline.begin_session(?, ?::interval), trunkline.timeline()

-- name: beat
select trunkline.beat(?)

-- name: sessions
select s.id, s.beat, ceil(extract(epoch from s.lease) * 1000)::bigint from trunkline.session s where s.ended_at is null and s.id <> ?

-- name: endSession
select trunkline.end_session(?, ?)

-- name: owned
select h.partition, h.epoch from trunkline.holder h where h.subscription = ? and h.session = ?

-- name: join
select trunkline.join_group(?, ?)

-- name: leave
select trunkline.leave_group(?, ?)

-- name: shares
select s.status, s.partitions, s.sessions, s.counts, s.intents, s.history_held, s.tracked, s.group_name from trunkline.shares(?) s

-- name: take
select t.partition, t.epoch, t.orphaned from trunkline.take(?, ?, ?, ?, ?, ?) t

-- name: done
select d.strand, array(select lower(r) from unnest(d.done) r order by 1), array(select upper(r) from unnest(d.done) r order by 1)
from trunkline.done(?, ?) d
order by d.strand

-- name: histories
select h.partition, h.history_to from trunkline.holder h where h.subscription = ? and h.partition = any (?) and h.history_to is not null

-- name: probe
select s.status from trunkline.subscription s where s.id = ?

-- name: catchUp
select c.state, c.total, c.done, c.messages_per_second, extract(epoch from c.eta)::bigint
from trunkline.group_of(?, ?) g
join trunkline.catch_ups c on c.id = g.id

-- name: holdCatchUp
select trunkline.hold_catch_up(?, ?, ?)

-- name: skipCatchUp
select trunkline.skip_catch_up(?, ?)

-- name: attempts
select a.strand, a."offset", a.attempts from trunkline.attempt a where a.subscription = ? and a.strand = any (?)

-- name: release
select trunkline.release_partitions(?, ?, ?, ?, ?)

-- name: record
select trunkline.record(?, ?, ?, ?, ?, ?, ?, ?)

-- name: suspects
select s.strand, s."offset", s.alone from trunkline.suspects(?, ?) s

-- name: settle
select trunkline.settle(?, ?, ?, ?, ?, ?, ?, ?)

-- name: bury
select trunkline.bury(?, ?, ?, ?, ?, ?, row(?, ?, ?, ?, ?::timestamptz[], ?::timestamptz[], ?, ?, ?, ?, ?)::trunkline.letters, ?, ?, ?, ?)

-- name: park
select trunkline.park(?, ?, ?, ?, ?, ?, row(?, ?, ?, ?, ?::timestamptz[], ?::timestamptz[], ?, ?, ?, ?, ?)::trunkline.letters)

-- name: unblock
select trunkline.unblock(?, ?, ?, ?, ?, ?)

-- name: lines
select l.strand, l.key, l.stopped, l.parked from trunkline.lines(?, ?) l

-- name: line
select p."offset", p.message_id, p.unit, p.unit_end, p.published_at, p.appended_at, p.key, p.correlation_id, p.content_type, p.headers, p.payload,
       coalesce((select a.attempts from trunkline.attempt a where (a.subscription, a.strand, a."offset") = (p.subscription, p.strand, p."offset")), 0)
from (
    select k.*, sum(octet_length(k.payload)) over (order by k."offset") - octet_length(k.payload) as before
    from trunkline.parked k
    where k.subscription = ? and k.strand = ? and k.key = ?
    order by k."offset"
    limit ?) p
where p.before < ?
order by p."offset"

-- name: keylessLine
select p."offset", p.message_id, p.unit, p.unit_end, p.published_at, p.appended_at, p.key, p.correlation_id, p.content_type, p.headers, p.payload,
       coalesce((select a.attempts from trunkline.attempt a where (a.subscription, a.strand, a."offset") = (p.subscription, p.strand, p."offset")), 0)
from (
    select k.*, sum(octet_length(k.payload)) over (order by k."offset") - octet_length(k.payload) as before
    from trunkline.parked k
    join trunkline.subscription s on s.id = k.subscription
    join trunkline.topic t on t.id = s.topic
    where k.subscription = ? and k.strand = ? and (k.key is null or t.ordering <> 'ORDERED' or ?)
      and not exists (
          select from trunkline.dead_letter d where d.subscription = k.subscription and d.strand = k.strand and d.key = k.key and d.stops_key)
    order by k."offset"
    limit ?) p
where p.before < ?
order by p."offset"

-- name: carryOut
select trunkline.carry_out(?, ?)

-- name: noteSuspects
select trunkline.note_suspects(?, ?, ?, ?, ?)

-- name: noteFailures
select trunkline.note_failures(?, ?, ?, ?, ?, a_session => ?)

-- name: forgetFailures
select trunkline.forget_failures(?, ?, ?, ?)

-- name: changeStatus
select trunkline.change_status(?, ?)

-- name: mark
select set_config('trunkline.delivery', ?, true) is not null and set_config('application_name', ?, true) is not null
   and set_config('idle_in_transaction_session_timeout', ?, true) is not null

-- name: fence
select trunkline.fence(?, ?, ?, ?, ?, ?, ?, ?)

-- name: recorded
select trunkline.recorded(?, ?, ?, ?, ?)

-- name: terminate
select pg_terminate_backend(a.pid)
from pg_stat_activity a
where a.application_name = ? and a.datname = current_database()

-- name: hasOffset
select trunkline.has_offset(?, ?)

-- name: fate
select trunkline.fate(?, ?, ?, ?, ?, ?)

-- name: bounds
select t.levels, b.ends from trunkline.topic t cross join lateral trunkline.bounds(t.id) b where t.name = ?

-- name: readableEnds
select trunkline.readable_ends(t.id) from trunkline.topic t where t.name = ?

-- name: deadLetters
select d.id, d.partition, d.priority, d."offset", d.message_id, d.key, d.headers, d.content_type, d.payload, d.attempts, d.error, d.stack, d.history, d.buried_at, d.intent
from trunkline.dead_letters d
where d.group_name = ? and d.topic = ? and d.id > ? and d.group_status <> 'CANCELLED'
order by d.id
limit ?

-- name: deadLetter
select d.id, d.partition, d.priority, d."offset", d.message_id, d.key, d.headers, d.content_type, d.payload, d.attempts, d.error, d.stack, d.history, d.buried_at, d.intent
from trunkline.dead_letters d
where d.group_name = ? and d.topic = ? and d.id = ? and d.group_status <> 'CANCELLED'

-- name: editDeadLetter
select trunkline.edit_dead_letter(?, ?, ?, ?, ?, ?)

-- name: redrive
select trunkline.redrive(?, ?, ?)

-- name: discard
select trunkline.discard(?, ?, ?)

-- name: groups
select g.group_name, g.topic, g.status, g.health, g.members, g.last_beat_at, g.pending, g.done, g.last_progress_at, g.parked, g.dead_letters, g.passed_over,
       g.released_at, g.created_at
from trunkline.groups g
order by g.topic, g.group_name, g.id

-- name: group
select g.group_name, g.topic, g.status, g.health, g.members, g.last_beat_at, g.pending, g.done, g.last_progress_at, g.parked, g.dead_letters, g.passed_over,
       g.released_at, g.created_at
from trunkline.groups_of(array(
    select s.id from trunkline.subscription s join trunkline.topic t on t.id = s.topic where s.group_name = ? and t.name = ?)) g
order by g.id desc

-- name: seek
select s.partition, s.priority, s.was, s.becomes, s.replayed, s.skipped
from trunkline.seek(?, ?, ?, coalesce(?::timestamptz, clock_timestamp() - ?::interval), ?, ?, ?, ?) s

-- name: changeGroup
select trunkline.change_group(?, ?, ?)

-- name: resurrect
select trunkline.resurrect(?, ?, ?, ?)

-- name: forceComplete
select trunkline.force_complete(?, ?)

-- name: gaps
select g.partition, g.priority, g."from", g."to", g.reason, g.at
from trunkline.gaps g
where g.group_name = ? and g.topic = ?
order by g.at, g.partition, g.priority, g."from"

-- name: explain
select e.fact, e.detail from trunkline.explain(?, ?, ?, ?, ?, ?) e

-- name: lag
select l.partition, l.priority, l.cursor, l.end_offset, l.lag, l.parked, extract(epoch from l.age)::float8 from trunkline.lag(?, ?) l

-- name: topicHealth
select h.topic, h.segments, h.bytes, h.groups, h.unheard, h.pinned_by, h.pinned_since, h.pinned_bytes, h.falling_behind,
       h.overdue_segments, h.dropped_messages, h.published_messages
from trunkline.topic_health h
order by h.topic

-- name: figures
select m.name, coalesce(m.topic, ''), coalesce(m.group_name, ''), m.value from trunkline.metrics() m order by m.name, m.topic, m.group_name

-- name: audit
select a.group_name, a.outcome, a.missing, a.recorded_at, a.session, a.epoch from trunkline.audit(?, ?) a
