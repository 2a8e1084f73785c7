-- For whoever looks after an installation: whether the log is whole, how far behind groups are, and what waits for the relay. Only reads.

-- What is wrong with a frame by itself; null: nothing. It reads every byte of it: what is stored aside is looked at too.
create function trunkline.frame_flaw(f trunkline.segment_shape, partitions int) returns text
    language sql immutable parallel safe
as $$
    select case
        when n.size = 0 then 'a frame without messages'
        when cardinality(f.lengths) <> n.size or cardinality(f.content_types) not in (1, n.size)
          or exists (
              select from unnest(array[cardinality(f.units), cardinality(f.waits), cardinality(f.keys), cardinality(f.correlation_ids), cardinality(f.headers)]) k
              where k not in (0, n.size)) then 'a frame whose columns do not belong together'
        when array_position(f.ids, null) is not null or exists (select from unnest(f.lengths) l where coalesce(l, -1) < 0)
            then 'a frame whose messages have no id or no length'
        when bit_count(f.payloads) is null or (select sum(l) from unnest(f.lengths) l) <> octet_length(f.payloads)
            then 'a frame whose payloads are not as long as its messages'
        when exists (select from unnest(f.headers) h where cardinality(h::text[]) % 2 <> 0) then 'a frame with half a header'
        when exists (select from unnest(f.keys) k where trunkline.partition_of(k, partitions) <> f.partition % partitions)
            then 'a key that belongs in another partition: it is not in order'
    end
    from (select cardinality(f.ids) as size) n
$$;

-- The frames of a segment behind a place, in order, at most so many: where each of them lies, and what is wrong with it.
create function trunkline.verify_frames(a_segment int, after_strand int, after_offset bigint, most int, last_strand int default 2147483647)
    returns table (strand int, first_offset bigint, last_offset bigint, appended_at timestamptz, flaw text)
    language plpgsql stable
    set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
begin
    return query execute format($q$
        select s.partition, s.last_offset - cardinality(s.ids) + 1, s.last_offset, s.appended_at,
               trunkline.frame_flaw(row(s.*)::trunkline.segment_shape, (
                   select t.partitions from trunkline.segment g join trunkline.topic t on t.id = g.topic where g.id = %1$s))
        from trunkline.segment_%1$s s
        where (s.partition, s.last_offset) > ($1, $2) and s.partition <= $4
        order by s.partition, s.last_offset
        limit $3 $q$, a_segment)
    using after_strand, after_offset, most, last_strand;
end $$;

-- What is wrong with a topic but for its frames: catalogue, marks, groups. To be called in one snapshot (REPEATABLE READ), with the slots of progress
-- locked in ACCESS SHARE mode before that is taken: a slot that is emptied later would be seen as if it had always been empty.
create function trunkline.verify_topic(a_topic int) returns table (strand int, "from" bigint, "to" bigint, problem text)
    language plpgsql stable
    set jit = off
as $$
declare
    t trunkline.topic;
    strands int;
    b record;
begin
    select k.* into t from trunkline.topic k where k.id = a_topic;
    if t.id is null then
        return; -- it was dropped
    end if;
    strands := t.partitions * t.levels;
    return query
        select null::int, null::bigint, null::bigint, format('segment %s has %s bases and %s times, not %s', s.id, cardinality(s.bases), cardinality(s.times), strands)
        from trunkline.segment s
        where s.topic = t.id and (cardinality(s.bases) <> strands or cardinality(s.times) <> strands);
    if found then
        return; -- nothing more can be said
    elsif not exists (select from trunkline.segment s where s.topic = t.id) then
        return query select null::int, null::bigint, null::bigint, 'it has no segment';
        return;
    end if;
    return query
        select n - 1, s.bases[n], s.before[n], format('segment %s begins before the one before it', s.id)
        from (select g.id, g.bases, lag(g.bases) over (order by g.id) as before from trunkline.segment g where g.topic = t.id) s
        cross join generate_series(1, strands) n
        where s.bases[n] < s.before[n];
    return query
        select null::int, null::bigint, null::bigint,
               format('lane %s %s', l, case when k.lane is null then 'is missing' else format('appends to segment %s, which is not the last', k.segment) end)
        from generate_series(0, t.lanes - 1) l
        left join trunkline.lane k on k.topic = t.id and k.lane = l
        where k.segment is distinct from (select max(s.id) from trunkline.segment s where s.topic = t.id);
    -- Marks of another cluster mean nothing here, until the restore is adopted.
    return query
        select null::int, null::bigint, null::bigint, format('lane %s %s', l, case when m.no is null
                   then 'has no mark: nothing of it is relayed' else 'has a mark that lies in the future: what is published now is not relayed' end)
        from generate_series(0, t.lanes - 1) l
        left join lateral (
            select k.no, k.snapshot, k.upto from trunkline.mark k where k.topic = t.id and k.lane = l order by k.no desc limit 1) m on true
        where m.no is null
           or greatest(pg_snapshot_xmax(m.snapshot), pg_snapshot_xmax(m.upto)) > pg_snapshot_xmax(pg_current_snapshot())
              and exists (
                  select from trunkline.installation i, pg_control_system() c, pg_database d
                  where d.datname = current_database() and i.database = d.oid and i.system_identifier = c.system_identifier);
    return query
        select null::int, null::bigint, null::bigint, format('group "%s" has %s of %s holders that fit', s.group_name, h.fitting, t.partitions)
        from trunkline.subscription s
        cross join lateral (
            select count(*) as fitting from trunkline.holder k
            where k.subscription = s.id and k.partition between 0 and t.partitions - 1
              and cardinality(k.base) = t.levels and cardinality(k.starts) = t.levels) h
        where s.topic = t.id and s.status <> 'CANCELLED' and h.fitting <> t.partitions;
    select * into b from trunkline.bounds(t.id);
    return query
        select d.strand, x.low, x.high, format('group "%s" %s', s.group_name, x.problem)
        from trunkline.subscription s
        cross join lateral trunkline.done(s.id, array(select generate_series(0, t.partitions - 1))) d
        cross join lateral (
            select greatest(lower(r), b.ends[d.strand + 1]), upper(r), 'has done what is not in the log'
            from unnest(d.done) r
            where lower_inf(r) or upper_inf(r) or lower(r) < 0 or upper(r) > b.ends[d.strand + 1]
            union all
            -- What is dropped before a group has done it is passed over in the same transaction, and noted.
            select lower(r), upper(r), 'has not been given this, which is gone from the log, and no gap is noted'
            from unnest(int8multirange(int8range(0, b.firsts[d.strand + 1])) - d.done) r) x (low, high, problem)
        where s.topic = t.id and s.status <> 'CANCELLED';
    return query
        with epochs as (
            select h.subscription, h.partition, greatest(h.epoch, g.epoch) as epoch
            from trunkline.subscription s
            join trunkline.holder h on h.subscription = s.id
            left join (select k.subscription, k.partition, max(k.epoch) as epoch from trunkline.grants k group by 1, 2) g
                on g.subscription = h.subscription and g.partition = h.partition
            where s.topic = t.id
        )
        select p.strand, lower(p.done), upper(p.done), format('group "%s" has progress of epoch %s, which nobody has had', s.group_name, p.epoch)
        from trunkline.subscription s
        join trunkline.progress p on p.subscription = s.id
        left join epochs e on e.subscription = s.id and e.partition = p.strand % t.partitions
        where s.topic = t.id and s.status <> 'CANCELLED' and (p.strand not between 0 and strands - 1 or p.epoch > e.epoch);
    return query
        select x.strand, x.low, x.high, format('group "%s" has %s of what is not in the log', s.group_name, x.what)
        from trunkline.subscription s
        cross join lateral (
            select d.strand, d."offset", d."offset" + 1, 'a dead letter' from trunkline.dead_letter d where d.subscription = s.id
            union all
            select p.strand, p."offset", p."offset" + 1, 'a parked message' from trunkline.parked p where p.subscription = s.id
            union all
            select g.strand, g."from", g."to", 'a gap' from trunkline.gap g where g.subscription = s.id) x (strand, low, high, what)
        where s.topic = t.id and s.status <> 'CANCELLED'
          and (x.strand not between 0 and strands - 1 or x.low < 0 or x.high <= x.low or x.high > b.ends[x.strand + 1]);
end $$;

-- What the marks of a topic count as relayed, and the outbox or delayed still holds: each is to be in the log, but for what is set aside for later. since is
-- the time before which it can not have been appended.
create function trunkline.counted_as_relayed(a_topic int)
    returns table (strand int, id bigint, since timestamptz, published_at timestamptz, idempotency_key text)
    language sql stable
as $$
    with lanes as (
        select l.lane, m.snapshot, m.due, m.due_unit, m.due_id
        from trunkline.lane l
        cross join lateral (select k.* from trunkline.mark k where k.topic = l.topic and k.lane = l.lane order by k.no desc limit 1) m
        where l.topic = a_topic
    )
    select o.partition, o.id, greatest(o.published_at, o.due_at), o.published_at, o.idempotency_key
    from lanes l
    join trunkline.outbox o on o.topic = a_topic and o.lane = l.lane and o.xid < pg_snapshot_xmax(l.snapshot) and pg_visible_in_snapshot(o.xid, l.snapshot)
    where o.due_at is null
       or not exists (select from trunkline.delayed d where d.topic = o.topic and d.lane = o.lane and d.due_at = o.due_at and d.id = o.id)
    union all
    select d.partition, d.id, greatest(d.published_at, d.due_at), d.published_at, null
    from lanes l
    join trunkline.delayed d on d.topic = a_topic and d.lane = l.lane and (d.due_at, d.unit, d.id) <= (l.due, l.due_unit, l.due_id)
$$;

-- Messages that count as relayed and are not in the log, by partition. Not those whose idempotency key another has, or may have had, and not those that
-- retention may have dropped since. It reads the ids of what was appended since the oldest of them was published, less an hour: a clock may have been set
-- back. To be called as verify_topic is, with the slots of idempotency locked too. Nobody analyzes these tables: without being told, the planner takes them
-- for small, and compares each with each.
create function trunkline.verify_relayed(a_topic int) returns table (strand int, "from" bigint, "to" bigint, problem text)
    language plpgsql stable
    set jit = off set enable_nestloop = off
as $$
declare
    remembered_since timestamptz;
    lows bigint[]; oldest timestamptz[]; kept timestamptz[];
    s record;
    looks text;
begin
    select i.idempotency_since into remembered_since
    from trunkline.installation i, pg_control_system() c, pg_database d
    where d.datname = current_database() and i.database = d.oid and i.system_identifier = c.system_identifier;
    if not found or not exists (select from trunkline.counted_as_relayed(a_topic)) then
        return;
    end if;
    select array_agg(case when e.since is not null then trunkline.offset_at(a_topic, n, e.since - interval '1 hour') end order by n) into lows
    from trunkline.topic t
    cross join generate_series(0, t.partitions * t.levels - 1) n
    left join (select k.strand, min(k.since) as since from trunkline.counted_as_relayed(a_topic) k group by k.strand) e on e.strand = n
    where t.id = a_topic;
    -- What was dropped had been appended before the oldest segment was opened that is left.
    select g.times into oldest from trunkline.segment g
    where g.topic = a_topic and to_regclass(format('trunkline.segment_%s', g.id)) is not null order by g.id limit 1;
    for s in select g.id, g.bases, g.times from trunkline.segment g where g.topic = a_topic order by g.id desc loop
        begin
            execute format('select from trunkline.segment_%s limit 0', s.id); -- from now on it stays
        exception when undefined_table then
            oldest := kept;
            exit;
        end;
        kept := s.times;
        looks := concat_ws(' union all ', looks, format($q$
            select k.base_id + x.id
            from unnest($2) with ordinality f (low, n)
            join trunkline.segment_%s k on k.partition = f.n - 1 and k.last_offset >= f.low and k.base_id = 0
            cross join lateral unnest(k.ids) x (id) $q$, s.id));
        exit when not exists (select from unnest(lows, s.bases) x (low, base) where x.low < x.base);
    end loop;
    if looks is null then
        return; -- its table is missing
    end if;
    return query execute format($q$
        select e.strand, null::bigint, null::bigint,
               format('%%s messages that count as relayed are not in the log, the first is message %%s, published at %%s', count(*), min(e.id), min(e.published_at))
        from trunkline.counted_as_relayed($1) e
        left join trunkline.idempotency_0 i0 on i0.topic = $1 and i0.partition = e.strand and i0.key = e.idempotency_key
        left join trunkline.idempotency_1 i1 on i1.topic = $1 and i1.partition = e.strand and i1.key = e.idempotency_key
        where not exists (select from (%s) x (id) where x.id = e.id)
          and e.since > coalesce(($3)[e.strand + 1], '-infinity') + interval '1 minute'
          and (e.idempotency_key is null or coalesce(i0.id, i1.id) = e.id
               or coalesce(i0.id, i1.id) is null and e.published_at > $4 + interval '1 minute')
        group by e.strand order by e.strand $q$, looks)
    using a_topic, lows, oldest, remembered_since;
end $$;

-- Messages of a segment whose id another one of it has too, by frame; some, if there are many. What does not fit into work_mem is sorted out on disk.
create function trunkline.verify_ids(a_segment int) returns table (strand int, "from" bigint, "to" bigint, id bigint)
    language plpgsql stable
    set jit = off
as $$
declare
    twice bigint[];
begin
    execute format('select array(
        select k.base_id + x.id from trunkline.segment_%s k cross join lateral unnest(k.ids) x (id) where x.id is not null
        group by 1 having count(*) > 1 limit 1000)', a_segment)
    into twice;
    if cardinality(twice) = 0 then
        return;
    end if;
    return query execute format($q$
        select k.partition, min(k.last_offset - cardinality(k.ids) + x.n), max(k.last_offset - cardinality(k.ids) + x.n) + 1, min(k.base_id + x.id)
        from trunkline.segment_%s k
        cross join lateral unnest(k.ids) with ordinality x (id, n)
        where k.base_id + x.id = any ($1)
        group by k.partition, k.last_offset order by k.partition, k.last_offset $q$, a_segment)
    using twice;
end $$;

-- What belongs to nothing: rows of groups and topics that do not exist, and segments that the catalogue does not know.
create function trunkline.verify_installation() returns setof text
    language sql stable
as $$
    select format('%s rows of %s belong to group number %s, which does not exist', count(*), x.what, x.subscription)
    from (
        select 'holder' as what, h.subscription from trunkline.holder h
        union all
        select 'progress', p.subscription from trunkline.progress p
        union all
        select 'dead_letter', d.subscription from trunkline.dead_letter d
        union all
        select 'parked', p.subscription from trunkline.parked p
        union all
        select 'attempt', a.subscription from trunkline.attempt a
        union all
        select 'blocked', k.subscription from trunkline.blocked k
        union all
        select 'gap', g.subscription from trunkline.gap g) x
    where not exists (select from trunkline.subscription s where s.id = x.subscription)
    group by x.what, x.subscription
    union all
    select format('%s rows of %s belong to topic number %s, which does not exist', count(*), x.what, x.topic)
    from (
        select 'subscription' as what, s.topic from trunkline.subscription s where s.status <> 'CANCELLED'
        union all
        select 'segment', s.topic from trunkline.segment s
        union all
        select 'lane', l.topic from trunkline.lane l
        union all
        select 'mark', m.topic from trunkline.mark m
        union all
        select 'delayed', d.topic from trunkline.delayed d) x
    where not exists (select from trunkline.topic t where t.id = x.topic)
    group by x.what, x.topic
    union all
    select format('table %s is a segment that the catalogue does not know', c.relname)
    from pg_class c
    where c.relkind = 'r' and c.relname ~ '^segment_[0-9]+$'
      and c.relnamespace = (select k.relnamespace from pg_class k where k.oid = 'trunkline.installation'::regclass)
      and not exists (select from trunkline.segment s where 'segment_' || s.id = c.relname)
$$;

-- What is committed, or due, and waits for the relay: how much of each topic, and since when. While much of it is relayed piece by piece, what of it is
-- through counts until the last piece is. Costs as much as there are lanes with rows in the outbox or in delayed.
create function trunkline.backlogs() returns table (topic int, messages bigint, since timestamptz)
    language plpgsql stable
    set enable_seqscan = off set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
    return query
        with recursive waiting as (
            (select o.topic, o.lane from trunkline.outbox o order by o.topic, o.lane limit 1)
            union all
            select n.topic, n.lane
            from waiting w
            cross join lateral (
                select o.topic, o.lane from trunkline.outbox o
                where (o.topic, o.lane) > (w.topic, w.lane) order by o.topic, o.lane limit 1) n
        ), sleeping as (
            (select d.topic, d.lane from trunkline.delayed d order by d.topic, d.lane limit 1)
            union all
            select n.topic, n.lane
            from sleeping s
            cross join lateral (
                select d.topic, d.lane from trunkline.delayed d
                where (d.topic, d.lane) > (s.topic, s.lane) order by d.topic, d.lane limit 1) n
        )
        select b.topic, count(*), min(b.since)
        from (
            select l.topic, f.since
            from waiting w
            join trunkline.lane l on l.topic = w.topic and l.lane = w.lane
            cross join lateral (select k.snapshot from trunkline.mark k where k.topic = l.topic and k.lane = l.lane order by k.no desc limit 1) m
            cross join lateral (select o.published_at as since from trunkline.fresh(l.topic, l.lane, m.snapshot, pg_current_snapshot()) o) f
            union all
            select l.topic, f.since
            from sleeping s
            join trunkline.lane l on l.topic = s.topic and l.lane = s.lane
            cross join lateral (select k.* from trunkline.mark k where k.topic = l.topic and k.lane = l.lane order by k.no desc limit 1) m
            cross join lateral (
                select d.due_at as since from trunkline.delayed d
                where d.topic = l.topic and d.lane = l.lane and (d.due_at, d.unit, d.id) > (m.due, m.due_unit, m.due_id) and d.due_at <= clock_timestamp()) f) b
        group by b.topic;
end $$;

create view trunkline.backlog as
    select t.name as topic, b.messages, b.since
    from trunkline.backlogs() b
    join trunkline.topic t on t.id = b.topic;
