-- Steps of upkeep. Each is safe to repeat and to run from any process; none waits for a lock longer than it says.

-- Topics whose current segment is full or old. An empty segment does not age.
create function trunkline.topics_to_roll(clock timestamptz default clock_timestamp()) returns setof int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
    s record;
    filled boolean;
begin
    for s in
        select t.id as topic, g.id, g.opened_at <= clock - t.segment_age as aged,
               coalesce(pg_table_size(to_regclass(format('trunkline.segment_%s', g.id))) >= t.segment_bytes, false) as full_up
        from trunkline.topic t
        cross join lateral (select k.id, k.opened_at from trunkline.segment k where k.topic = t.id order by k.id desc limit 1) g
    loop
        if s.aged and not s.full_up then
            execute format('select exists (select from trunkline.segment_%s)', s.id) into filled;
        end if;
        if s.full_up or (s.aged and filled) then
            return next s.topic;
        end if;
    end loop;
end $$;

-- Goes on to the next outbox slot, if that is empty. Otherwise it stays.
create function trunkline.advance_outbox(after interval default '5 minutes', clock timestamptz default clock_timestamp()) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    i trunkline.installation;
    current_used boolean; next_used boolean;
begin
    select k.* into i from trunkline.installation k where k.outbox_slot_since <= clock - after for no key update skip locked;
    if not found then
        return null;
    end if;
    execute format('select exists (select from trunkline.outbox_%s), exists (select from trunkline.outbox_%s)', i.outbox_slot, (i.outbox_slot + 1) % 4)
    into current_used, next_used;
    if next_used or not current_used then
        return null;
    end if;
    update trunkline.installation set outbox_slot = (i.outbox_slot + 1) % 4, outbox_slot_since = clock;
    return (i.outbox_slot + 1) % 4;
end $$;

-- Empties an outbox slot that is not current, has no writer in flight, and holds nothing but what every lane had
-- relayed some time ago: a dump that began before the relay must still find each message in one place or the other.
-- Returns why not, or 'cleared'.
create function trunkline.clear_outbox(slot int, settled interval default '10 minutes', clock timestamptz default clock_timestamp()) returns text
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set lock_timeout = '50ms'
as $$
declare
    place regclass := format('trunkline.outbox_%s', slot)::regclass;
    unsettled boolean;
begin
    if slot = (select i.outbox_slot from trunkline.installation i) then
        return 'current';
    end if;
    if pg_relation_size(place) = 0 then
        return 'empty';
    end if;
    if exists (select from pg_locks l where l.locktype = 'relation' and l.relation = place and l.database = (
        select d.oid from pg_database d where d.datname = current_database()) and l.mode = 'RowExclusiveLock' and l.granted) then
        return 'in use';
    end if;
    begin
        execute format('lock table %s in access exclusive mode', place);
    exception when lock_not_available then
        return 'in use';
    end;
    execute format($q$
        with recursive lanes as (
            (select o.topic, o.lane from %1$s o order by o.topic, o.lane limit 1)
            union all
            select n.topic, n.lane from lanes l cross join lateral (
                select o.topic, o.lane from %1$s o where (o.topic, o.lane) > (l.topic, l.lane) order by o.topic, o.lane limit 1) n
        )
        select exists (
            select from lanes l
            join trunkline.lane k using (topic, lane)
            left join lateral (
                select m.snapshot, m.upto from trunkline.mark m
                where m.topic = l.topic and m.lane = l.lane and m.marked_at <= $1 - $2 order by m.no desc limit 1) m on true
            where m.snapshot is null
               or exists (select from %1$s o where o.topic = l.topic and o.lane = l.lane and o.xid >= pg_snapshot_xmax(m.snapshot))
               or exists (select from pg_snapshot_xip(m.snapshot) x cross join lateral (
                      select from %1$s o where o.topic = l.topic and o.lane = l.lane and o.xid = x offset 0) late))
        $q$, place)
    into unsettled using clock, settled;
    if unsettled then
        return 'not settled';
    end if;
    execute format('truncate %s', place);
    return 'cleared';
end $$;

-- Old marks, keeping for each lane the last one that is settled, and delayed messages that were appended.
create function trunkline.prune_marks(settled interval default '10 minutes', clock timestamptz default clock_timestamp()) returns bigint
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
    pruned bigint;
begin
    delete from trunkline.mark m
    using (select k.topic, k.lane, max(k.no) as no from trunkline.mark k where k.marked_at <= clock - settled group by k.topic, k.lane) keep
    where m.topic = keep.topic and m.lane = keep.lane and m.no < keep.no;
    get diagnostics pruned = row_count;
    delete from trunkline.delayed d
    where d.ctid = any (array(
        select k.ctid
        from trunkline.lane l
        cross join lateral (select k.* from trunkline.mark k where k.topic = l.topic and k.lane = l.lane order by k.no desc limit 1) m
        join trunkline.delayed k on k.topic = l.topic and k.lane = l.lane and (k.due_at, k.unit, k.id) <= (m.due, m.due_unit, m.due_id)
        limit 1000000));
    return pruned;
end $$;

-- Forgets the idempotency keys of the window before the last: a key is remembered for one window at least.
create function trunkline.rotate_idempotency(clock timestamptz default clock_timestamp()) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set lock_timeout = '50ms'
as $$
declare
    i trunkline.installation;
begin
    select k.* into i from trunkline.installation k where k.idempotency_since <= clock - k.idempotency_window for no key update skip locked;
    if not found then
        return false;
    end if;
    execute format('truncate trunkline.idempotency_%s', 1 - i.idempotency_slot);
    update trunkline.installation set idempotency_slot = 1 - i.idempotency_slot, idempotency_since = clock;
    return true;
exception when lock_not_available then
    return false;
end $$;

-- Whose turn it is to do the upkeep: one process does it at a time, so that not all of them do. If two did, no harm would come of it.
create table trunkline.upkeep_turn (
    only_row  boolean primary key default true check (only_row),
    who       text,
    since     timestamptz,
    until     timestamptz,
    -- When it was last taken or kept; at first, when there was nothing to do yet.
    taken_at  timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
insert into trunkline.upkeep_turn default values;

-- Takes a turn, or keeps it, for a quarter of a minute. False: somebody else has it. One that ends in the far future was taken before the clock was set back.
create function trunkline.take_turn(a_who text) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    update trunkline.upkeep_turn t
    set who = a_who, since = case when t.who = a_who then t.since else clock_timestamp() end, until = clock_timestamp() + interval '15 seconds',
        taken_at = clock_timestamp()
    where t.who is null or t.who = a_who or t.until not between clock_timestamp() and clock_timestamp() + interval '1 minute';
    return found;
end $$;

-- Anybody may have the turn at once. Who comes again leaves it seen that somebody does the upkeep.
create function trunkline.leave_turn(a_who text, a_for_good boolean default true) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp
as $$
    update trunkline.upkeep_turn t set who = null, until = case when not a_for_good then t.until end where t.who = a_who
$$;

-- One step of upkeep, by the clock and by the rules: what applications may ask for. Null: there was nothing to do.
create function trunkline.upkeep(step text, a_topic int default null) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    -- In an old snapshot a slot that is the current one by now may look as if it were not.
    perform trunkline.require_appendable();
    case step
        when 'roll' then return trunkline.roll_segment(a_topic);
        when 'trim' then
            return trunkline.trim(a_topic);
        when 'watch groups' then return nullif(trunkline.watch_groups(), 0);
        when 'sweep groups' then return nullif(trunkline.sweep_groups(), 0);
        when 'match topics' then
            if exists (select from trunkline.unmatched) then
                perform from trunkline.installation for no key update;
                return nullif(trunkline.match_topics(), 0);
            end if;
            return null;
        when 'advance outbox' then return trunkline.advance_outbox();
        when 'clear outbox' then perform trunkline.clear_outbox(s) from generate_series(0, 3) s; return null;
        when 'prune marks' then return nullif(trunkline.prune_marks(), 0);
        when 'rotate progress' then return nullif(trunkline.rotate_progress()::int, 0);
        when 'rotate idempotency' then return nullif(trunkline.rotate_idempotency()::int, 0);
    end case;
end $$;

-- Makes a logical restore this database's own: relays what the dumped marks had not covered, by the stored
-- transaction ids, and starts the outbox anew. Once, in one transaction, before anything is published.
create function trunkline.adopt() returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off
    set plan_cache_mode = force_generic_plan set work_mem = '64MB'
as $$
declare
    i trunkline.installation;
    here_system bigint; here_database oid;
    everything pg_snapshot;
    t record;
    outcome record;
    highest bigint; highest_direct bigint; of_segment record;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise 'adopting needs READ COMMITTED' using errcode = 'TL007';
    end if;
    select k.* into strict i from trunkline.installation k for update;
    select c.system_identifier, d.oid into here_system, here_database
    from pg_control_system() c, pg_database d where d.datname = current_database();
    if i.system_identifier = here_system and i.database = here_database then
        return false;
    end if;
    lock table trunkline.outbox_0, trunkline.outbox_1, trunkline.outbox_2, trunkline.outbox_3 in access exclusive mode;
    select format('%1$s:%1$s:', coalesce(max(o.xid::text::bigint), 0) + 1), coalesce(max(o.id), 0) into everything, highest from trunkline.outbox o;
    select greatest(highest, max(d.id)) into highest from trunkline.delayed d;
    highest_direct := 0;
    for t in
        select l.topic, max(l.segment) as segment, array_agg(l.lane) as lanes
        from (select k.* from trunkline.lane k order by k.topic, k.lane for no key update) l group by l.topic
    loop
        loop
            outcome := trunkline.drain(t.topic, t.lanes, t.segment, 100000, everything);
            exit when outcome.drained;
        end loop;
        execute format('select max((select max(i) from unnest(s.ids) i)) filter (where s.base_id = 0) as relayed, max(s.base_id) as direct
            from trunkline.segment_%s s', t.segment) into of_segment;
        highest := greatest(highest, of_segment.relayed);
        highest_direct := greatest(highest_direct, of_segment.direct);
    end loop;
    truncate trunkline.outbox_0, trunkline.outbox_1, trunkline.outbox_2, trunkline.outbox_3;
    -- A dump reads sequences by the way, not by its snapshot: they may be behind.
    perform setval('trunkline.message_id', greatest(highest, (select s.last_value from trunkline.message_id s)));
    perform setval('trunkline.batch_id', greatest(highest_direct >> 20, (select s.last_value from trunkline.batch_id s)));
    insert into trunkline.mark (topic, lane, snapshot, due, due_unit, due_id)
    select l.topic, l.lane, '1:1:', m.due, m.due_unit, m.due_id
    from trunkline.lane l
    cross join lateral (select k.* from trunkline.mark k where k.topic = l.topic and k.lane = l.lane order by k.no desc limit 1) m;
    -- Those that came with the dump speak of transactions of another cluster: nothing here is settled by them.
    delete from trunkline.mark m where exists (select from trunkline.mark k where k.topic = m.topic and k.lane = m.lane and k.no > m.no);
    update trunkline.installation
    set system_identifier = here_system, database = here_database, outbox_slot = 0, outbox_slot_since = clock_timestamp();
    return true;
end $$;
