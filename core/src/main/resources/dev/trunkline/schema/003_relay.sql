-- The relay: committed outbox rows get their offsets, under the append locks of their lanes.
-- Always in this order: lock, mark, snapshot, tails, insert, mark, at READ COMMITTED. The lock is a statement of its own: a
-- snapshot older than the lock would give offsets twice. Tails are read once, before the rows of the same insert.

-- A snapshot in which this very transaction counts as running: what it publishes next must not be skipped.
create function trunkline.mark_now() returns pg_snapshot
    language plpgsql volatile
as $$
declare
    seen pg_snapshot := pg_current_snapshot();
    me xid8 := pg_current_xact_id();
begin
    if me >= pg_snapshot_xmax(seen) then
        return seen;
    end if;
    return format('%s:%s:%s', least(pg_snapshot_xmin(seen), me), pg_snapshot_xmax(seen),
        (select string_agg(x::text, ',' order by x) from (select pg_snapshot_xip(seen) as x union select me) running));
end $$;

-- The outbox rows of a lane that are visible in upto and were not in since, by index, whatever was relayed before.
create function trunkline.fresh(a_topic int, a_lane int, since pg_snapshot, upto pg_snapshot) returns setof trunkline.outbox
    language sql stable
as $$
    select o.*
    from trunkline.outbox o
    where o.topic = a_topic and o.lane = a_lane
      and o.xid >= pg_snapshot_xmax(since) and o.xid < pg_snapshot_xmax(upto) and pg_visible_in_snapshot(o.xid, upto)
    union all
    select o.*
    from pg_snapshot_xip(since) late
    cross join lateral (
        select k.* from trunkline.outbox k where k.topic = a_topic and k.lane = a_lane and k.xid = late offset 0) o
    where pg_visible_in_snapshot(late, upto)
$$;

-- Refuses where offsets must not be given: a snapshot older than the lock, a standby, a restored outbox.
create function trunkline.require_appendable() returns void
    language plpgsql
as $$
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise 'appending needs READ COMMITTED, not %', upper(current_setting('transaction_isolation'))
            using errcode = 'TL007', hint = 'Run it in a transaction of its own.';
    elsif pg_is_in_recovery() then
        raise 'this server is a standby' using errcode = 'TL007', hint = 'Connect to the primary.';
    elsif current_setting('trunkline.adopted', true) is distinct from current_database() then
        perform trunkline.require_adopted();
    end if;
    perform trunkline.notice_failover();
    if current_setting('synchronous_commit') in ('off', 'local') then
        perform set_config('synchronous_commit', 'on', true);
    end if;
end $$;

-- The ids that hold these idempotency keys: a message's own id if it is the first with its key in the window.
create function trunkline.claim_idempotency_keys(a_topic int, a_partitions int[], a_keys text[], a_ids bigint[])
    returns bigint[]
    language plpgsql
as $$
begin
    if (select i.idempotency_slot from trunkline.installation i) = 0 then
        insert into trunkline.idempotency_0 (topic, partition, key, id)
        select a_topic, m.partition, m.key, m.id
        from unnest(a_partitions, a_keys, a_ids) with ordinality as m (partition, key, id, n)
        where m.key is not null
          and not exists (select from trunkline.idempotency_1 i where i.topic = a_topic and i.partition = m.partition and i.key = m.key)
        order by n
        on conflict do nothing;
    else
        insert into trunkline.idempotency_1 (topic, partition, key, id)
        select a_topic, m.partition, m.key, m.id
        from unnest(a_partitions, a_keys, a_ids) with ordinality as m (partition, key, id, n)
        where m.key is not null
          and not exists (select from trunkline.idempotency_0 i where i.topic = a_topic and i.partition = m.partition and i.key = m.key)
        order by n
        on conflict do nothing;
    end if;
    return (
        select array_agg(coalesce(i0.id, i1.id, m.id) order by n)
        from unnest(a_partitions, a_keys, a_ids) with ordinality as m (partition, key, id, n)
        left join trunkline.idempotency_0 i0 on i0.topic = a_topic and i0.partition = m.partition and i0.key = m.key
        left join trunkline.idempotency_1 i1 on i1.topic = a_topic and i1.partition = m.partition and i1.key = m.key);
end $$;

-- The bytes of payload that a run should not exceed.
create function trunkline.relay_bytes() returns bigint language sql immutable parallel safe return 67108864;

-- Appends what is committed and due in lanes that this transaction has locked. drained: nothing is left that was there
-- when it began, so that what the same transaction appends next comes after it.
create function trunkline.drain(a_topic int, a_lanes int[], a_segment int, a_chunk int, a_seen pg_snapshot, out drained boolean, out moved bigint)
    language plpgsql
    set enable_seqscan = off set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan set work_mem = '64MB'
as $$
declare
    began timestamptz := clock_timestamp();
    seen pg_snapshot;
    lanes int[]; snapshots pg_snapshot[]; dues timestamptz[]; due_units bigint[]; due_ids bigint[];
    now_due timestamptz; last_due_unit bigint := 9223372036854775807; last_due_id bigint := 9223372036854775807;
    cut trunkline.mark;
    t trunkline.topic;
    waiting bigint; keyed bigint; later bigint; due bigint; misplaced bigint; bytes bigint; cut_due boolean := false;
    last_unit bigint; last_id bigint;
    refused bigint[]; partitions int[]; torn int[] := '{}';
begin
    moved := 0;
    select k.* into strict t from trunkline.topic k where k.id = a_topic;
    select array_agg(m.lane), array_agg(m.snapshot), array_agg(m.due), array_agg(m.due_unit), array_agg(m.due_id)
    into lanes, snapshots, dues, due_units, due_ids
    from unnest(a_lanes) l (lane)
    cross join lateral (
        select k.* from trunkline.mark k where k.topic = a_topic and k.lane = l.lane order by k.no desc limit 1) m
    where m.upto is null;
    if cardinality(lanes) is distinct from cardinality(a_lanes) then
        select m.* into strict cut
        from unnest(a_lanes) l (lane)
        cross join lateral (
            select k.* from trunkline.mark k where k.topic = a_topic and k.lane = l.lane order by k.no desc limit 1) m
        where m.upto is not null
        order by m.lane limit 1;
    else
        seen := coalesce(a_seen, trunkline.mark_now());
        now_due := clock_timestamp();
        select count(f.xid), count(f.idempotency_key), count(*) filter (where f.due_at > greatest(h.due, now_due)), count(*) - count(f.xid),
               count(*) filter (where not trunkline.fits(t.partitions, t.lanes, t.levels, h.lane, f.partition, f.due_at, f.key, f.idempotency_key)), array_agg(distinct f.partition),
               coalesce(sum(f.bytes), 0)
        into waiting, keyed, later, due, misplaced, partitions, bytes
        from unnest(lanes, snapshots, dues, due_units, due_ids) h (lane, snapshot, due, due_unit, due_id)
        cross join lateral (
            select o.xid, o.partition, o.key, o.idempotency_key, o.due_at, octet_length(o.payload) as bytes from trunkline.fresh(a_topic, h.lane, h.snapshot, seen) o
            union all
            (select null, d.partition, null, null, d.due_at, octet_length(d.payload) from trunkline.delayed d
            where d.topic = a_topic and d.lane = h.lane and (d.due_at, d.unit, d.id) > (h.due, h.due_unit, h.due_id) and d.due_at <= now_due
            limit a_chunk + 1)) f;
        drained := waiting <= a_chunk and due <= a_chunk and bytes <= trunkline.relay_bytes();
        if not drained then
            -- What has become due comes before what was published since.
            cut_due := due > 0;
            select m.* into strict cut
            from unnest(lanes, snapshots, dues, due_units, due_ids) h (lane, snapshot, due, due_unit, due_id)
            cross join lateral (
                select count(*) as n, sum(octet_length(o.payload)) as bytes from trunkline.fresh(a_topic, h.lane, h.snapshot, seen) o where not cut_due
                union all
                select count(*), sum(d.bytes) from (
                    select octet_length(k.payload) as bytes from trunkline.delayed k
                    where cut_due and k.topic = a_topic and k.lane = h.lane and (k.due_at, k.unit, k.id) > (h.due, h.due_unit, h.due_id) and k.due_at <= now_due
                    limit a_chunk + 1) d) f
            cross join lateral (
                select k.* from trunkline.mark k where k.topic = a_topic and k.lane = h.lane order by k.no desc limit 1) m
            order by greatest(f.n::numeric / a_chunk, f.bytes::numeric / trunkline.relay_bytes()) desc limit 1;
            cut.upto := seen;
        end if;
    end if;

    if cut_due then
        -- As much of what is due in its lane alone; what was published waits until none of that is left.
        lanes := array[cut.lane]; snapshots := array[cut.snapshot]; seen := cut.snapshot;
        dues := array[cut.due]; due_units := array[cut.due_unit]; due_ids := array[cut.due_id];
        waiting := 0; keyed := 0; later := 0; misplaced := 0;
        select count(*), array_agg(distinct p.partition), max(p.due_at) into due, partitions, now_due
        from (
            select d.partition, d.due_at, row_number() over w as n, sum(octet_length(d.payload)) over w as upto
            from trunkline.delayed d
            where d.topic = a_topic and d.lane = cut.lane and (d.due_at, d.unit, d.id) > (cut.due, cut.due_unit, cut.due_id) and d.due_at <= now_due
            window w as (order by d.due_at, d.unit, d.id)
            order by d.due_at, d.unit, d.id limit a_chunk) p
        where p.n = 1 or p.upto <= trunkline.relay_bytes();
        select d.unit, d.id into strict last_due_unit, last_due_id
        from trunkline.delayed d
        where d.topic = a_topic and d.lane = cut.lane and (d.due_at, d.unit, d.id) > (cut.due, cut.due_unit, cut.due_id)
        order by d.due_at, d.unit, d.id offset due - 1 limit 1;
        torn := array(
            select p from unnest(partitions) p
            where exists (
                select from trunkline.delayed d
                where d.topic = a_topic and d.lane = cut.lane and d.due_at = now_due and d.unit = last_due_unit and d.id > last_due_id and d.partition = p));
    elsif cut.lane is not null then
        -- A difference too large for one run stays fixed and is appended piece by piece, its lane alone.
        drained := false;
        lanes := array[cut.lane]; snapshots := array[cut.snapshot]; seen := cut.upto;
        dues := array[cut.due]; due_units := array[cut.due_unit]; due_ids := array[cut.due_id];
        now_due := cut.due; last_due_unit := cut.due_unit; last_due_id := cut.due_id;
        due := 0;
        with rest as materialized (
            select r.*, row_number() over w as n, sum(r.bytes) over w as upto from (
                select coalesce(f.unit, max(f.id) over (partition by f.xid)) as unit, f.id, f.partition, f.key, f.idempotency_key, f.due_at,
                       octet_length(f.payload) as bytes
                from trunkline.fresh(a_topic, cut.lane, cut.snapshot, cut.upto) f) r
            where cut.after_id is null or (r.unit, r.id) > (cut.after_unit, cut.after_id)
            window w as (order by r.unit, r.id)
        ), piece as materialized (
            -- All that is left is looked at for each piece: of very much a piece is more, but not so much that it takes minutes.
            select r.* from rest r, (select count(*) as n, sum(k.bytes) as bytes from rest k) k
            where r.n <= greatest(a_chunk, k.n / 16)
              and (r.n = 1 or r.upto <= least(greatest(trunkline.relay_bytes(), k.bytes / 64), 16 * trunkline.relay_bytes()))
        )
        select count(*), count(p.idempotency_key), count(*) filter (where p.due_at > now_due),
               count(*) filter (where not trunkline.fits(t.partitions, t.lanes, t.levels, cut.lane, p.partition, p.due_at, p.key, p.idempotency_key)), array_agg(distinct p.partition),
               (array_agg(p.unit order by p.unit desc, p.id desc))[1], (array_agg(p.id order by p.unit desc, p.id desc))[1],
               count(*) = (select count(*) from rest)
        into waiting, keyed, later, misplaced, partitions, last_unit, last_id, drained
        from piece p;
        if drained then
            -- The last piece; what was committed meanwhile is for the next run.
            drained := false; last_unit := null; last_id := null;
        end if;
    end if;

    if keyed > 0 then
        refused := trunkline.refused_for_idempotency(a_topic, lanes, snapshots, seen, cut.after_unit, cut.after_id, last_unit, last_id);
    end if;
    if misplaced > 0 then
        -- Only somebody who does not use the functions can have written these: they must not stall the topic.
        refused := coalesce(refused, '{}') || array(
            select (p.message).id
            from trunkline.piece(a_topic, lanes, snapshots, dues, seen, cut.after_unit, cut.after_id, last_unit, last_id) p
            where not trunkline.fits(t.partitions, t.lanes, t.levels, (p.message).lane, (p.message).partition, (p.message).due_at, (p.message).key,
                      (p.message).idempotency_key)
              and (p.message).id not in (select unnest(refused)));
        raise warning 'topic "%": % outbox rows lie in no partition of their lane, or are such as nobody can publish, and are left out', t.name, misplaced using errcode = 'TL011';
    end if;
    if later > 0 then
        later := trunkline.set_aside(a_topic, lanes, snapshots, dues, seen, now_due, cut.after_unit, cut.after_id, last_unit, last_id, refused, later);
    end if;
    if waiting + due > 0 then
        execute format('select trunkline.segment_%s_relay($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)', a_segment)
        into moved
        using a_topic, partitions, lanes, snapshots, dues, due_units, due_ids, seen, now_due, last_due_unit, last_due_id, torn,
            cut.after_unit, cut.after_id, last_unit, last_id, refused;
        moved := moved + later;
        if moved + coalesce(cardinality(refused), 0) <> waiting + due then
            raise 'relay of topic %: % of % messages found their place', a_topic, moved + coalesce(cardinality(refused), 0), waiting + due;
        end if;
    end if;

    if cut_due then
        insert into trunkline.mark (topic, lane, snapshot, due, due_unit, due_id)
        values (a_topic, cut.lane, cut.snapshot, now_due, last_due_unit, last_due_id);
    elsif cut.lane is not null then
        insert into trunkline.mark (topic, lane, snapshot, due, due_unit, due_id, upto, after_unit, after_id)
        select a_topic, cut.lane, case when last_id is null then cut.upto else cut.snapshot end, cut.due, cut.due_unit, cut.due_id,
               case when last_id is not null then cut.upto end, last_unit, last_id;
    elsif waiting + due > 0 or clock_timestamp() - began > '3 ms'
        or pg_snapshot_xmax(seen)::text::bigint - pg_snapshot_xmax(snapshots[1])::text::bigint > 1000 then
        insert into trunkline.mark (topic, lane, snapshot, due, due_unit, due_id)
        select a_topic, h.lane, seen, k.due, k.unit, k.id
        from unnest(lanes, dues, due_units, due_ids) h (lane, due, due_unit, due_id)
        cross join lateral (
            select * from (values (h.due, h.due_unit, h.due_id), (now_due, last_due_unit, last_due_id)) k (due, unit, id)
            order by k.due desc, k.unit desc, k.id desc limit 1) k;
    end if;
end $$;

-- Whether a row can have a place: its partition exists and belongs to its lane, its time comes, and its keys are not longer than an index can hold. The
-- functions see to that before. A constraint of the outbox would: it takes 7 us of 16 that a publish takes with it.
create function trunkline.fits(partitions int, lanes int, levels int, lane int, partition int, due_at timestamptz, key text, idempotency_key text)
    returns boolean
    language sql immutable parallel safe
    return partition between 0 and partitions * levels - 1 and partition % partitions % lanes = lane
        and isfinite(due_at) is not false and (octet_length(key) <= 1024) is not false and (octet_length(idempotency_key) <= 1024) is not false;

-- A run's rows with their units: the part of the difference that lies after and up to the given places, if any.
create function trunkline.piece(
    a_topic int, a_lanes int[], a_snapshots pg_snapshot[], a_dues timestamptz[], seen pg_snapshot,
    after_unit bigint, after_id bigint, last_unit bigint, last_id bigint)
    returns table (message trunkline.outbox, unit bigint, due timestamptz)
    language sql stable
as $$
    select r.message, r.unit, r.due
    from (
        select f as message, coalesce(f.unit, max(f.id) over (partition by f.xid)) as unit, h.due, f.id
        from unnest(a_lanes, a_snapshots, a_dues) h (lane, snapshot, due)
        cross join lateral trunkline.fresh(a_topic, h.lane, h.snapshot, seen) f) r
    where (after_id is null or (r.unit, r.id) > (after_unit, after_id))
      and (last_id is null or (r.unit, r.id) <= (last_unit, last_id))
$$;

-- Claims the idempotency keys of a run and returns the ids of the messages whose key another message holds.
create function trunkline.refused_for_idempotency(
    a_topic int, a_lanes int[], a_snapshots pg_snapshot[], seen pg_snapshot,
    after_unit bigint, after_id bigint, last_unit bigint, last_id bigint) returns bigint[]
    language plpgsql
as $$
declare
    partitions int[]; keys text[]; ids bigint[];
begin
    select array_agg(p.partition), array_agg(p.idempotency_key), array_agg(p.id)
    into partitions, keys, ids
    from (
        select (p.message).partition, (p.message).idempotency_key, (p.message).id
        from trunkline.piece(a_topic, a_lanes, a_snapshots, null, seen, after_unit, after_id, last_unit, last_id) p
        where octet_length((p.message).idempotency_key) <= 1024 -- longer ones are left out: see fits
        order by p.unit, (p.message).id) p;
    return array(
        select m.id
        from unnest(ids, trunkline.claim_idempotency_keys(a_topic, partitions, keys, ids)) m (id, holder)
        where m.id <> m.holder);
end $$;

-- Moves what is due later from the outbox to delayed.
create function trunkline.set_aside(
    a_topic int, a_lanes int[], a_snapshots pg_snapshot[], a_dues timestamptz[], seen pg_snapshot, now_due timestamptz,
    after_unit bigint, after_id bigint, last_unit bigint, last_id bigint, refused bigint[], inout later bigint)
    language plpgsql
as $$
begin
    insert into trunkline.delayed
        (id, xid, unit, published_at, due_at, topic, lane, partition, key, idempotency_key, correlation_id, content_type, headers, payload)
    select (p.message).id, (p.message).xid, p.unit, (p.message).published_at, (p.message).due_at, (p.message).topic, (p.message).lane,
           (p.message).partition, (p.message).key, (p.message).idempotency_key, (p.message).correlation_id, (p.message).content_type,
           (p.message).headers, (p.message).payload
    from trunkline.piece(a_topic, a_lanes, a_snapshots, a_dues, seen, after_unit, after_id, last_unit, last_id) p
    where (p.message).due_at > greatest(p.due, now_due)
      and (p.message).id not in (select unnest(refused));
    get diagnostics later = row_count;
end $$;

-- Is there anything to relay in a lane? Reads only: no lock, no transaction id, no WAL. Also true when looking was
-- dear (many rows in flight), so that the relay goes and writes a mark; but not when it is asked about the past.
create function trunkline.peek(a_topic int, a_lane int, a_upto pg_snapshot default null, a_due timestamptz default null) returns boolean
    language plpgsql
as $$
declare
    began timestamptz := clock_timestamp();
    seen pg_snapshot := coalesce(a_upto, pg_current_snapshot());
    last trunkline.mark;
begin
    select m.* into last from trunkline.mark m where m.topic = a_topic and m.lane = a_lane order by m.no desc limit 1;
    return a_upto is null and last.upto is not null
        or exists (select from trunkline.fresh(a_topic, a_lane, last.snapshot, seen))
        or exists (select from trunkline.delayed d
                   where d.topic = a_topic and d.lane = a_lane and (d.due_at, d.unit, d.id) > (last.due, last.due_unit, last.due_id)
                     and d.due_at <= coalesce(a_due, clock_timestamp()))
        or a_upto is null and clock_timestamp() - began > '3 ms';
end $$;

-- The topics that have something to relay, how many seconds from now the next delayed message is due, and the current slot.
-- Costs as much as there are lanes with rows in the outbox or in delayed, not as there are topics. With a snapshot and a time: the topics that still
-- have something of what was committed, or due, then.
create function trunkline.pending(
    a_upto pg_snapshot default null, a_due timestamptz default null, out topics int[], out next_due double precision, out slot int)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off set plan_cache_mode = force_generic_plan
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
    ), sleeping as (
        (select d.topic, d.lane from trunkline.delayed d order by d.topic, d.lane limit 1)
        union all
        select n.topic, n.lane
        from sleeping s
        cross join lateral (
            select d.topic, d.lane from trunkline.delayed d
            where (d.topic, d.lane) > (s.topic, s.lane) order by d.topic, d.lane limit 1) n
    ), candidate as (
        select w.topic, w.lane from waiting w union select s.topic, s.lane from sleeping s
    )
    select array_agg(distinct l.topic) filter (where trunkline.peek(l.topic, l.lane, a_upto, a_due)),
           (select extract(epoch from min(n.due_at) - clock_timestamp()) from sleeping s cross join lateral (
               select d.due_at from trunkline.delayed d
               where d.topic = s.topic and d.lane = s.lane and d.due_at > clock_timestamp() order by d.due_at limit 1) n),
           (select i.outbox_slot from trunkline.installation i)
    into topics, next_due, slot
    from candidate c
    join trunkline.lane l using (topic, lane);
end $$;

-- Relays every lane of a topic that nobody else is appending to. Null: all were taken.
create function trunkline.relay(a_topic int, a_chunk int default 100000) returns bigint
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    lanes int[];
    current_segment int;
begin
    perform trunkline.require_appendable();
    select array_agg(l.lane), max(l.segment) into lanes, current_segment
    from (select k.lane, k.segment from trunkline.lane k where k.topic = a_topic order by k.lane for no key update skip locked) l;
    if lanes is null then
        return null;
    end if;
    return (select d.moved from trunkline.drain(a_topic, lanes, current_segment, a_chunk, null) d);
end $$;

-- Relays the first lane of a topic that still has something of what was committed, or due, then; for who appends to it, it waits, but not for ever. One
-- lane at a time: nobody else's is held meanwhile.
create function trunkline.relay_waiting(a_topic int, a_upto pg_snapshot, a_due timestamptz, a_chunk int default 100000) returns bigint
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off set lock_timeout = '5s'
as $$
declare
    its_lane int;
    current_segment int;
begin
    perform trunkline.require_appendable();
    select l.lane into its_lane from trunkline.lane l
    where l.topic = a_topic and trunkline.peek(l.topic, l.lane, a_upto, a_due) order by l.lane limit 1;
    begin
        select l.segment into current_segment from trunkline.lane l where l.topic = a_topic and l.lane = its_lane for no key update;
    exception when lock_not_available then
        raise 'somebody has been appending to lane % for more than %', its_lane, current_setting('lock_timeout')
            using errcode = 'lock_not_available', hint = 'See pg_stat_activity for who holds it.';
    end;
    if not found then
        return 0;
    end if;
    return (select d.moved from trunkline.drain(a_topic, array[its_lane], current_segment, a_chunk, null) d);
end $$;
