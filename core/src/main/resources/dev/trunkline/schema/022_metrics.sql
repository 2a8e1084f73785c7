-- The installation in figures, for whoever draws curves and rings bells: one call for all of them, cheap enough for every few seconds.

-- What is committed and has no offset yet. While much of it is relayed piece by piece, what of it is through counts until the last piece is.
create function trunkline.outbox_backlog(out messages bigint, out oldest timestamptz)
    language plpgsql stable
    set enable_seqscan = off set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
begin
    with recursive waiting as (
        (select o.topic, o.lane from trunkline.outbox o order by o.topic, o.lane limit 1)
        union all
        select n.topic, n.lane
        from waiting w
        cross join lateral (
            select o.topic, o.lane from trunkline.outbox o
            where (o.topic, o.lane) > (w.topic, w.lane) order by o.topic, o.lane limit 1) n
    )
    select count(*), min(f.published_at) into messages, oldest
    from waiting w
    join trunkline.lane l using (topic, lane)
    cross join lateral (select k.snapshot from trunkline.mark k where k.topic = w.topic and k.lane = w.lane order by k.no desc limit 1) m
    cross join lateral (select o.published_at from trunkline.fresh(w.topic, w.lane, m.snapshot, pg_current_snapshot()) o) f;
end $$;

-- For each group that is not cancelled: messages in the log that it has not done, and when the oldest that it has not done, parked ones included,
-- was appended. The end of a topic's log is looked for once, however many groups it has, and only where something was written.
create function trunkline.group_lags() returns table (subscription int, pending bigint, oldest timestamptz, moved_at timestamptz)
    language plpgsql stable
    set jit = off
as $$
#variable_conflict use_column
declare
    s record;
    ends bigint[]; ended_topic int;
    place record;
    found_at timestamptz;
begin
    for s in
        with done as (
            select d.subscription, d.strand, range_agg(d.done) as done
            from (
                select h.subscription, h.partition + t.partitions * (l.level - 1)::int as strand, l.done
                from trunkline.holder h
                join trunkline.subscription k on k.id = h.subscription
                join trunkline.topic t on t.id = k.topic
                cross join lateral unnest(h.base) with ordinality as l (done, level)
                union all
                select p.subscription, p.strand, p.done
                from trunkline.progress p
                join trunkline.subscription k on k.id = p.subscription
                join trunkline.topic t on t.id = k.topic
                join trunkline.holder h on h.subscription = k.id and h.partition = p.strand % t.partitions and p.epoch >= h.counts_from) d
            group by d.subscription, d.strand
        ), strands as (
            select d.subscription, array_agg(d.strand order by d.strand) as numbers,
                   array_agg(trunkline.cursor_of(d.done) order by d.strand) as cursors,
                   -- How many offsets above the cursor are done.
                   array_agg(coalesce((select sum(upper(r) - lower(r)) from unnest(d.done) r where lower(r) > 0), 0)::bigint order by d.strand) as above
            from done d
            group by d.subscription
        )
        select k.id, k.topic, g.id as segment, g.bases, x.numbers, x.cursors, x.above,
               greatest((select max(h.moved_at) from trunkline.holder h where h.subscription = k.id), r.recorded_at) as moved_at,
               a.appended_at as parked_since
        from trunkline.subscription k
        join strands x on x.subscription = k.id
        cross join lateral (select y.id, y.bases from trunkline.segment y where y.topic = k.topic order by y.id desc limit 1) g
        left join (select p.subscription, max(p.recorded_at) as recorded_at from trunkline.progress p group by p.subscription) r on r.subscription = k.id
        left join (select p.subscription, min(p.appended_at) as appended_at from trunkline.parked p group by p.subscription) a on a.subscription = k.id
        where k.status <> 'CANCELLED'
        order by k.topic
    loop
        if s.topic is distinct from ended_topic then
            ended_topic := s.topic;
            ends := s.bases;
            if pg_relation_size(to_regclass(format('trunkline.segment_%s', s.segment))) > 0 then
                execute format('select array(
                    select coalesce((select k.last_offset + 1 from trunkline.segment_%s k where k.partition = b.n - 1 order by k.last_offset desc limit 1), b.base)
                    from unnest($1) with ordinality b (base, n) order by b.n)', s.segment)
                into ends using s.bases;
            end if;
        end if;
        subscription := s.id;
        moved_at := s.moved_at;
        oldest := s.parked_since;
        select coalesce(sum(ends[x.strand + 1] - x.cursor - x.above), 0) into pending from unnest(s.numbers, s.cursors, s.above) x (strand, cursor, above);
        if pending > 0 then
            -- Where the cursors stand: each in the last segment that began at or before it.
            for place in
                select y.id, array_agg(x.strand) as strands, array_agg(x.cursor) as cursors
                from unnest(s.numbers, s.cursors) x (strand, cursor)
                cross join lateral (
                    select max(y.id) as id from trunkline.segment y where y.topic = s.topic and y.bases[x.strand + 1] <= x.cursor) y
                where x.cursor < ends[x.strand + 1] and y.id is not null
                group by y.id
            loop
                execute format('select min(f.appended_at) from unnest($1, $2) x (strand, cursor) cross join lateral (
                    select k.appended_at from trunkline.segment_%s k where k.partition = x.strand and k.last_offset >= x.cursor order by k.last_offset limit 1) f',
                    place.id)
                into found_at using place.strands, place.cursors;
                oldest := least(oldest, found_at);
            end loop;
        end if;
        return next;
    end loop;
end $$;

-- The figures, each with the topic and the group that it is of, if any. Ages are in seconds, by the clock of the database. The shared group of a queue is
-- called shared. Of transactions of other users only who may read their statistics (pg_read_all_stats) sees the age.
create function trunkline.metrics() returns table (name text, topic text, group_name text, value double precision)
    language sql stable
    set jit = off
as $$
    with clock as materialized (
        select clock_timestamp() as now
    ), lag as materialized (
        select l.* from trunkline.group_lags() l
    ), alive as (
        select m.subscription, count(*) as members from trunkline.member m join trunkline.session k on k.id = m.session where k.ended_at is null group by 1
    ), parked as (
        select p.subscription, count(*) as messages from trunkline.parked p group by 1
    ), dead as (
        select d.subscription, count(*) as messages from trunkline.dead_letter d group by 1
    ), log as materialized (
        select s.topic, count(*) as segments, sum(pg_total_relation_size(to_regclass(format('trunkline.segment_%s', s.id)))) as bytes,
               count(*) filter (where s.opened_at < c.now - t.retention) > 1 as is_old
        from trunkline.segment s join trunkline.topic t on t.id = s.topic cross join clock c
        group by s.topic
    ), old as (
        -- Only of topics that have something to drop is it asked why that is still there. The offset keeps the planner from asking for all.
        select g.topic, h.overdue_segments, h.pinned_bytes
        from log g
        join trunkline.topic t on t.id = g.topic
        cross join lateral (select k.overdue_segments, k.pinned_bytes from trunkline.topic_health k where k.topic = t.name offset 0) h
        where g.is_old
    )
    select f.name, t.name, coalesce(nullif(s.group_name, ''), 'shared'), f.value
    from trunkline.subscription s
    join trunkline.topic t on t.id = s.topic
    join lag l on l.subscription = s.id
    left join alive a on a.subscription = s.id
    left join parked p on p.subscription = s.id
    left join dead d on d.subscription = s.id
    cross join clock c
    cross join lateral (values
        ('group_lag_messages', l.pending),
        ('group_lag_seconds', coalesce(greatest(extract(epoch from c.now - l.oldest), 0), 0)),
        ('group_parked_messages', coalesce(p.messages, 0)),
        ('group_dead_letters', coalesce(d.messages, 0)),
        ('group_members', coalesce(a.members, 0)),
        ('group_health', array_position(array['HEALTHY', 'UNATTENDED', 'NEAR_TIMEOUT', 'STALLED', 'FLAPPING', 'PAUSED', 'DEAD'],
            trunkline.group_health(s, t.semantics, l.pending, l.moved_at)) - 1),
        ('group_timeout_ratio', case when s.mode = 'HANDLER' and s.status = 'ACTIVE' and t.semantics = 'PUB_SUB'
            then coalesce(least(greatest(extract(epoch from c.now - s.unattended_since) / extract(epoch from s.dead_after), 0), 1), 0) else 0 end)) f (name, value)
    union all
    select f.name, t.name, null, f.value
    from trunkline.topic t
    join log g on g.topic = t.id
    left join old h on h.topic = t.id
    cross join lateral (values
        ('topic_segments', g.segments),
        ('topic_bytes', g.bytes),
        ('topic_overdue_segments', coalesce(h.overdue_segments, 0)),
        ('topic_pinned_bytes', coalesce(h.pinned_bytes, 0))) f (name, value)
    union all
    select f.name, null, null, f.value
    from clock c
    cross join trunkline.outbox_backlog() o
    cross join lateral (values
        ('outbox_messages', o.messages),
        ('outbox_age_seconds', coalesce(greatest(extract(epoch from c.now - o.oldest), 0), 0)),
        ('relay_mark_age_seconds', coalesce(extract(epoch from c.now - (select max(m.marked_at) from trunkline.mark m)), 0)),
        ('oldest_transaction_seconds', coalesce(extract(epoch from c.now - least(
            (select min(x.xact_start) from pg_stat_activity x
             where x.datname = current_database() and x.pid <> pg_backend_pid() and x.backend_type = 'client backend'),
            (select min(x.prepared) from pg_prepared_xacts x where x.database = current_database()))), 0)),
        ('sessions', (select count(*) from trunkline.session k where k.ended_at is null))) f (name, value)
$$;
