-- The log: a topic's segments, each a table of its own with writers of its own. A writer is a function so that its
-- plans are kept from call to call; the table's name can not be a parameter.

-- The bytes that a frame should not exceed, so that two of them fill a page. A message counts for at least 40.
create function trunkline.frame_bytes() returns int language sql immutable parallel safe return 3700;

create function trunkline.create_segment(a_topic int, a_bases bigint[], a_times timestamptz[]) returns int
    language plpgsql
as $$
declare
    segment_id int;
begin
    perform trunkline.notice_failover();
    insert into trunkline.segment (topic, bases, times) values (a_topic, a_bases, a_times) returning id into segment_id;
    execute format($ddl$
        create table trunkline.segment_%1$s (like trunkline.segment_shape including all)
            with (autovacuum_enabled = off, toast.autovacuum_enabled = off, toast_tuple_target = 8000)
    $ddl$, segment_id);
    execute format($ddl$
        -- The last offset and time of partitions. Read after the lock was taken, in one go, never per row. From an offset that is
        -- known to be taken on, there is little to look at; without any, or with a wrong one, a page of the index.
        create function trunkline.segment_%1$s_tails(partitions int[], known bigint[], clock timestamptz)
            returns table (partition int, "offset" bigint, appended_at timestamptz)
            language sql stable
        as $f$
            select d.partition, coalesce(l.last_offset, f.last_offset, g.bases[d.partition + 1] - 1),
                   greatest(coalesce(l.appended_at, f.appended_at, g.times[d.partition + 1]), clock)
            from trunkline.segment g
            cross join unnest(partitions, known) d (partition, known)
            left join lateral (
                select s.last_offset, s.appended_at from trunkline.segment_%1$s s
                where s.partition = d.partition and s.last_offset >= d.known order by s.last_offset desc limit 1) l on true
            left join lateral (
                select s.last_offset, s.appended_at from trunkline.segment_%1$s s
                where l.last_offset is null and s.partition = d.partition order by s.last_offset desc limit 1) f on true
            where g.id = %1$s
        $f$;

        -- Rows that became due come first, then transactions by their largest id: one that was committed before
        -- another began has only smaller ids, and none is torn apart. The aggregates see rows in the order of the window,
        -- because groups are formed by hash, never by another sort. torn: the partitions in which the last unit that is due has more.
        create function trunkline.segment_%1$s_relay(
            a_topic int, partitions int[], lanes int[], snapshots pg_snapshot[], dues timestamptz[], due_units bigint[], due_ids bigint[],
            seen pg_snapshot, now_due timestamptz, last_due_unit bigint, last_due_id bigint, torn int[],
            after_unit bigint, after_id bigint, last_unit bigint, last_id bigint, refused bigint[])
            returns bigint language plpgsql
            set enable_sort = off set enable_incremental_sort = off set enable_hashagg = on
        as $f$
        declare
            clock timestamptz := clock_timestamp();
            moved bigint;
        begin
            with tail as materialized (
                select t.* from trunkline.segment_%1$s_tails(partitions, null, clock) t
            ), appended as (
                insert into trunkline.segment_%1$s
                    (last_offset, appended_at, partition, unit_open, base_id, ids, units, waits, lengths, keys, correlation_ids, content_types, headers, payloads)
                select max(p."offset"), p.appended_at, p.partition, (array_agg(p.goes_on))[count(*)], 0, array_agg(p.id), array_agg(p.unit),
                       array_agg((extract(epoch from p.appended_at - p.published_at) * 1000000)::bigint), array_agg(octet_length(p.payload)),
                       case when count(p.key) > 0 then array_agg(p.key) end,
                       case when count(p.correlation_id) > 0 then array_agg(p.correlation_id) end,
                       case when min(p.content_type) = max(p.content_type) then array[min(p.content_type)] else array_agg(p.content_type) end,
                       case when count(p.headers) > 0 then array_agg(p.headers::text) end, string_agg(p.payload, '')
                from (
                    select a.*, t."offset" + row_number() over w as "offset", t.appended_at,
                           lead(a.unit) over w is not distinct from a.unit
                               or a.turn = now_due and a.unit = last_due_unit and a.partition = any (torn) as goes_on,
                           sum(octet_length(a.payload) + coalesce(octet_length(a.key), 0) + 40) over w / trunkline.frame_bytes() as frame
                    from (
                        select timestamptz 'infinity' as turn, coalesce(f.unit, max(f.id) over (partition by f.xid)) as unit, f.id, f.published_at,
                               f.due_at <= greatest(h.due, now_due) as due, f.partition, f.key, f.correlation_id, f.content_type, f.headers, f.payload
                        from unnest(lanes, snapshots, dues) h (lane, snapshot, due)
                        cross join lateral trunkline.fresh(a_topic, h.lane, h.snapshot, seen) f
                        union all
                        select d.due_at, d.unit, d.id, d.published_at, true, d.partition, d.key, d.correlation_id, d.content_type, d.headers, d.payload
                        from unnest(lanes, dues, due_units, due_ids) h (lane, due, due_unit, due_id)
                        cross join lateral (
                            select k.* from trunkline.delayed k
                            where k.topic = a_topic and k.lane = h.lane and (k.due_at, k.unit, k.id) > (h.due, h.due_unit, h.due_id)
                              and (k.due_at, k.unit, k.id) <= (now_due, last_due_unit, last_due_id) offset 0) d
                    ) a
                    join tail t on t.partition = a.partition
                    where a.due is not false
                      and (after_id is null or (a.unit, a.id) > (after_unit, after_id))
                      and a.id not in (select unnest(refused)) -- hashed: there may be many
                    window w as (partition by a.partition order by a.turn, a.unit, a.id)
                ) p
                where last_id is null or (p.unit, p.id) <= (last_unit, last_id)
                group by p.partition, p.appended_at, p.frame
                returning cardinality(ids) as size
            )
            select coalesce(sum(a.size), 0) into moved from appended a;
            return moved;
        end $f$;

        -- Frames, each with the place of its last message in the arrays that follow and with how many messages of the batch lie
        -- in its partition up to there. touched holds at least the partitions of the frames; their tails as they were come back.
        create function trunkline.segment_%1$s_append(
            touched int[], known bigint[], partitions int[], lasts int[], uptos int[], opens boolean[], payloads bytea[], base_id bigint,
            ids bigint[], units bigint[], lengths int[], keys text[], correlation_ids text[], content_types text[], headers text[], out tails bigint[])
            language plpgsql
        as $f$
        declare
            clock timestamptz := clock_timestamp();
        begin
            with tail as materialized (
                select e.* from trunkline.segment_%1$s_tails(touched, known, clock) e
            ), appended as (
                insert into trunkline.segment_%1$s
                    (last_offset, appended_at, partition, unit_open, base_id, ids, units, lengths, keys, correlation_ids, content_types, headers, payloads)
                select e."offset" + uptos[f.n], e.appended_at, f.partition, opens[f.n], base_id, ids[f.first:f.last], units[f.first:f.last], lengths[f.first:f.last],
                       keys[f.first:f.last], correlation_ids[f.first:f.last],
                       case when cardinality(content_types) = 1 then content_types else content_types[f.first:f.last] end, headers[f.first:f.last],
                       payloads[f.n]
                from (
                    select k.n, partitions[k.n] as partition, coalesce(lasts[k.n - 1], 0) + 1 as first, lasts[k.n] as last
                    from generate_series(1, cardinality(partitions)) k (n)) f
                join tail e on e.partition = f.partition
            )
            select array_agg(e."offset" order by e.partition) into tails from tail e;
        end $f$;

        revoke all on function trunkline.segment_%1$s_tails, trunkline.segment_%1$s_relay, trunkline.segment_%1$s_append from public;
    $ddl$, segment_id);
    return segment_id;
end $$;

-- Opens the next segment of a topic. The table is made first; the append locks are held only while the tails are read
-- and the lanes are pointed at it. Fails with lock_not_available if the topic or a lane stays locked for half a second.
-- Null: the topic has just been dropped.
create function trunkline.roll_segment(a_topic int) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set jit = off set lock_timeout = '500ms'
as $$
declare
    t trunkline.topic;
    current_segment int; next_segment int;
    open_bases bigint[]; open_times timestamptz[];
begin
    perform trunkline.require_appendable();
    -- One at a time, from before the segment has its id: the one with the greatest id is the last one, everywhere.
    select k.* into t from trunkline.topic k where k.id = a_topic for no key update;
    if not found then
        return null;
    end if;
    next_segment := trunkline.create_segment(a_topic, '{}', '{}');
    select max(l.segment) into strict current_segment
    from (select k.segment from trunkline.lane k where k.topic = a_topic order by k.lane for no key update) l;
    execute format('select array_agg(e."offset" + 1 order by e.partition), array_agg(e.appended_at order by e.partition)
        from trunkline.segment_%s_tails(array(select generate_series(0, $1 - 1)), null, clock_timestamp()) e', current_segment)
    into open_bases, open_times
    using t.partitions * t.levels;
    update trunkline.segment s set bases = open_bases, times = open_times, opened_at = clock_timestamp() where s.id = next_segment;
    update trunkline.lane l set segment = next_segment where l.topic = a_topic;
    return next_segment;
end $$;

-- Drops the oldest segment of a topic if all of it lies below the watermark (the first offset to keep, per partition)
-- and it is not the current one. Returns its id. Never touches the append locks.
create function trunkline.drop_segment(a_topic int, watermark bigint[]) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set jit = off set lock_timeout = '500ms'
as $$
declare
    oldest int;
    next_bases bigint[];
begin
    perform from trunkline.topic t where t.id = a_topic for update;
    select s.id into oldest from trunkline.segment s where s.topic = a_topic order by s.id limit 1;
    select s.bases into next_bases from trunkline.segment s where s.topic = a_topic and s.id > oldest order by s.id limit 1;
    if next_bases is null or exists (select from trunkline.lane l where l.topic = a_topic and l.segment = oldest) or exists (
        select from generate_subscripts(next_bases, 1) p where watermark[p] is null or watermark[p] < next_bases[p]) then
        return null;
    end if;
    perform trunkline.remove_segment(oldest);
    return oldest;
end $$;

create function trunkline.remove_segment(a_segment int) returns void
    language plpgsql
as $$
begin
    delete from trunkline.segment s where s.id = a_segment;
    execute format('drop function trunkline.segment_%1$s_relay, trunkline.segment_%1$s_append, trunkline.segment_%1$s_tails', a_segment);
    execute format('drop table trunkline.segment_%s', a_segment);
end $$;
