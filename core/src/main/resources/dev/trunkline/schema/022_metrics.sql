-- The installation in figures, for whoever draws curves and rings bells: one call for all of them, cheap enough for every few seconds.

-- The figures, each with the topic and the group that it is of, if any. Ages are in seconds, by the clock of the database. Of
-- what was appended and what groups have done it is told how much that is in all, so that rates can be drawn, whoever publishes and however is consumed: what a
-- group began after, or was moved past, counts as done. Of transactions of other users only who may read their statistics (pg_read_all_stats) sees the age.
create function trunkline.metrics() returns table (name text, topic text, group_name text, value double precision)
    language sql stable
    set jit = off
as $$
    with clock as materialized (
        select clock_timestamp() as now
    ), lag as materialized (
        select l.subscription, sum(l.pending)::bigint as pending, sum(l.done) as done, sum(l.end_offset) as ends, sum(l.parked) as parked,
               min(l.oldest) as oldest, max(l.moved_at) as moved_at
        from trunkline.lags(array(select s.id from trunkline.subscription s where s.status <> 'CANCELLED')) l
        group by l.subscription
    ), alive as (
        select m.subscription, count(*) as members from trunkline.member m join trunkline.session k on k.id = m.session where k.ended_at is null group by 1
    ), batches as (
        select b.topic, b.group_name, count(*) as open, count(*) filter (where b.expires_at <= c.now) as expired
        from trunkline.open_batches b cross join clock c
        group by b.topic, b.group_name
    ), dead as (
        select d.subscription, count(*) as messages from trunkline.dead_letter d group by 1
    ), log as materialized (
        select s.topic, count(*) as segments, sum(pg_total_relation_size(to_regclass(format('trunkline.segment_%s', s.id)))) as bytes,
               count(*) filter (where s.opened_at < k.keep) > 1 as is_old
        from (select t.id as topic, (trunkline.cut_offs(t, c.now)).keep from trunkline.topic t cross join clock c offset 0) k
        join trunkline.segment s on s.topic = k.topic
        group by s.topic
    ), old as (
        -- Only of topics that have something to drop is it asked why that is still there. The offset keeps the planner from asking for all.
        select g.topic, h.overdue_segments, h.pinned_bytes
        from log g
        join trunkline.topic t on t.id = g.topic
        cross join lateral (select k.overdue_segments, k.pinned_bytes from trunkline.topic_health k where k.topic = t.name offset 0) h
        where g.is_old
    )
    select f.name, t.name, s.group_name, f.value
    from trunkline.subscription s
    join trunkline.topic t on t.id = s.topic
    join lag l on l.subscription = s.id
    left join alive a on a.subscription = s.id
    left join batches b on b.topic = t.name and b.group_name = s.group_name
    left join dead d on d.subscription = s.id
    cross join clock c
    cross join lateral (values
        ('group_lag_messages', l.pending),
        ('group_done_messages', l.done),
        ('group_lag_seconds', coalesce(greatest(extract(epoch from c.now - l.oldest), 0), 0)),
        ('group_parked_messages', l.parked),
        ('group_dead_letters', coalesce(d.messages, 0)),
        ('group_members', coalesce(a.members, 0)),
        ('group_open_batches', case when s.mode = 'PULL' then coalesce(b.open, 0) end),
        ('group_expired_batches', case when s.mode = 'PULL' then coalesce(b.expired, 0) end),
        ('group_health', array_position(array['HEALTHY', 'UNATTENDED', 'NEAR_TIMEOUT', 'STALLED', 'FLAPPING', 'PAUSED', 'DEAD'],
            trunkline.group_health(s, t.semantics, l.pending, l.moved_at)) - 1),
        ('group_timeout_ratio', case when s.mode = 'HANDLER' and s.status = 'ACTIVE' and t.semantics = 'PUB_SUB'
            then coalesce(least(greatest(extract(epoch from c.now - s.unattended_since) / extract(epoch from s.dead_after), 0), 1), 0) else 0 end)) f (name, value)
    where f.value is not null
    union all
    select f.name, t.name, null, f.value
    from trunkline.topic t
    join log g on g.topic = t.id
    left join old h on h.topic = t.id
    left join (
        select s.topic, max(l.ends) as ends from trunkline.subscription s join lag l on l.subscription = s.id group by s.topic) e on e.topic = t.id
    cross join lateral (values
        ('topic_appended_messages', coalesce(e.ends, (select sum(n) from unnest((trunkline.bounds(t.id)).ends) n))),
        ('topic_segments', g.segments),
        ('topic_bytes', g.bytes),
        ('topic_overdue_segments', coalesce(h.overdue_segments, 0)),
        ('topic_pinned_bytes', coalesce(h.pinned_bytes, 0))) f (name, value)
    union all
    select f.name, null, null, f.value
    from clock c
    cross join (select coalesce(sum(b.messages), 0) as messages, min(b.since) as oldest from trunkline.backlogs() b) o
    cross join lateral (values
        ('outbox_messages', o.messages),
        ('outbox_age_seconds', coalesce(greatest(extract(epoch from c.now - o.oldest), 0), 0)),
        ('relay_mark_age_seconds', coalesce(extract(epoch from c.now - (select max(m.marked_at) from trunkline.mark m)), 0)),
        ('upkeep_age_seconds', extract(epoch from c.now - (select u.taken_at from trunkline.upkeep_turn u))),
        ('oldest_transaction_seconds', coalesce(extract(epoch from c.now - least(
            (select min(x.xact_start) from pg_stat_activity x
             where x.datname = current_database() and x.pid <> pg_backend_pid() and x.backend_type = 'client backend'),
            (select min(x.prepared) from pg_prepared_xacts x where x.database = current_database()))), 0)),
        ('sessions', (select count(*) from trunkline.session k where k.ended_at is null))) f (name, value)
$$;
