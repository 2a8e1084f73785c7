-- Groups: who reads a topic, which process holds which partition, and how far it is. Holders are written by take-over, release
-- and fold only; progress is appended. The row of a holder is the fence: who records progress locks it.

create table trunkline.subscription (
    id          int generated always as identity primary key,
    group_name  text collate "C" not null,
    -- What it was called before its topic became a queue: batches that are open know it by that.
    former_name text collate "C",
    topic       int not null,
    status      text not null default 'ACTIVE' check (status in ('ACTIVE', 'PAUSED', 'DEAD', 'CANCELLED')),
    -- Whether processes hold its partitions and run handlers, or callers pull batches. It stays.
    mode        text not null default 'HANDLER' check (mode in ('HANDLER', 'PULL')),
    -- Where it began, as it was asked for: it was resolved to offsets when the group was made.
    start_mode  text not null check (start_mode in ('NOW', 'BEGINNING', 'TIMESTAMP', 'OFFSET', 'MESSAGE')),
    start_at    timestamptz,
    start_number  bigint,
    created_at  timestamptz not null default clock_timestamp(),
    status_since  timestamptz not null default clock_timestamp(),
    -- Without a live member for so long, it is dead.
    dead_after  interval not null default '5 minutes' check (dead_after > '0'),
    -- Since when upkeep has seen no live member; null: there is one.
    unattended_since  timestamptz default clock_timestamp(),
    -- Since when it holds no messages back, whatever its status.
    released_at  timestamptz,
    -- Whether it wants some keys only. It stays.
    keyed       boolean not null default false,
    -- Since when it catches up with its history, or goes on to; how much of it was done then; and whether somebody has stopped that.
    catch_up_since  timestamptz,
    catch_up_from   bigint not null default 0,
    catch_up_cancelled  boolean not null default false
);
create unique index subscription_of_group on trunkline.subscription (group_name, topic) where status <> 'CANCELLED';

-- A process that consumes. It renews its beat; one whose beat stood still is ended by whoever saw that, for good.
create table trunkline.session (
    id          bigint generated always as identity primary key,
    name        text not null,
    beat        bigint not null default 0,
    beat_at     timestamptz not null default clock_timestamp(),
    -- For how long others believe in it without a beat.
    lease       interval not null,
    -- It is nobody in another one.
    timeline    text not null default trunkline.timeline(),
    started_at  timestamptz not null default clock_timestamp(),
    -- The beat that the last sweep found, and how many before it had found the same.
    swept_beat  bigint,
    still       int not null default 0,
    ended_at    timestamptz
) with (fillfactor = 50);

-- The sessions that take part in a group.
create table trunkline.member (
    subscription  int not null,
    session       bigint not null,
    primary key (subscription, session)
);

-- Which session owns a partition, and at which epoch. base is what was done, per level, before the progress that counts.
create table trunkline.holder (
    subscription  int not null,
    partition     int not null,
    session       bigint,
    epoch         bigint not null default 0,
    -- Progress of earlier epochs does not count: somebody has set the group back or forth since.
    counts_from   bigint not null default 0,
    -- Where the group began, per level.
    starts        bigint[] not null,
    base          int8multirange[] not null,
    -- When base last grew, by the progress that was added to it.
    moved_at      timestamptz,
    -- The first offset of the history and the one behind it, per level; null: there is none.
    history_from  bigint[],
    history_to    bigint[],
    primary key (subscription, partition)
) with (fillfactor = 50);

-- What an owner has done: deltas, each with all that lies below its cursor. A group's state is the union of its base and
-- all its rows: a late commit of a parallel handler or a repeated row does no harm.
do $$
begin
    for slot in 0 .. 1 loop
        execute format($ddl$
            create table trunkline.progress_%1$s (
                subscription  int not null,
                strand        int not null,
                epoch         bigint not null,
                sequence      bigint not null,
                done          int8multirange not null,
                -- What of it was not for the group, where that is remembered; and who says so. Null: somebody who pulls.
                rejected      int8multirange,
                session       bigint,
                recorded_at   timestamptz not null default clock_timestamp(),
                primary key (subscription, strand, epoch, sequence)
            ) with (autovacuum_enabled = off);
        $ddl$, slot);
    end loop;
end $$;

create view trunkline.progress as
    select * from trunkline.progress_0
    union all
    select * from trunkline.progress_1;

alter table trunkline.installation
    add column progress_slot int not null default 0,
    add column progress_since timestamptz not null default clock_timestamp();

-- Finds the subscription of a group, or makes it: its start is resolved to offsets now and stays. Without one, the installation's; of a queue the
-- beginning, since what its one group passes over nobody gets.
create function trunkline.subscribe(
    a_group text, a_topic text, a_start text default null, a_mode text default 'HANDLER', a_at timestamptz default null,
    a_number bigint default null, a_dead_after interval default null, a_keys text[] default null, a_bound bigint default null,
    out subscription int, out created boolean, out keyed boolean)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    t trunkline.topic;
    its trunkline.subscription;
    how text := a_start;
    starts bigint[];
begin
    perform trunkline.notice_failover();
    -- A topic that has waited for its first group is changed below.
    perform from trunkline.topic k where k.name = a_topic and k.accepts_bytes < 0 for no key update;
    select k.* into t from trunkline.topic k where k.name = a_topic for share;
    if t.id is null then
        perform trunkline.refuse(format('there is no topic "%s"', a_topic), 'TL001', 'Create it first.');
    elsif t.semantics = 'QUEUE' and a_group <> 'shared' then
        perform trunkline.refuse(format('topic "%s" is a queue: its one group is called "shared"', a_topic), 'TL008', 'Consume it by that name.');
    elsif a_mode is null or a_mode not in ('HANDLER', 'PULL') then
        perform trunkline.refuse(format('a group can not be served by "%s"', a_mode), 'TL008', 'Use HANDLER or PULL.');
    end if;
    perform trunkline.check_name('group name', a_group, 'TL008');
    how := coalesce(how, case t.semantics when 'QUEUE' then 'BEGINNING' else (select i.default_start from trunkline.installation i) end);
    perform trunkline.check_start(how, a_at, a_number);
    perform trunkline.check_bound(a_bound);
    created := false;
    select s.id into subscription from trunkline.subscription s where s.group_name = a_group and s.topic = t.id and s.status <> 'CANCELLED';
    if subscription is null then
        if t.semantics <> 'QUEUE' and a_group = 'shared' then
            perform trunkline.refuse(format('topic "%s" is pub/sub, and "shared" is the group of a queue', a_topic), 'TL008', 'Name the group otherwise.');
        end if;
        starts := trunkline.start_offsets(t, how, a_at, a_number);
        insert into trunkline.subscription (group_name, topic, start_mode, start_at, start_number, mode, keyed)
        values (a_group, t.id, how, a_at, a_number, a_mode, a_keys is not null)
        on conflict do nothing returning id into subscription;
        created := subscription is not null;
        if not created then
            select s.id into strict subscription from trunkline.subscription s where s.group_name = a_group and s.topic = t.id and s.status <> 'CANCELLED';
        end if;
    end if;
    select s.* into strict its from trunkline.subscription s where s.id = subscribe.subscription;
    keyed := its.keyed;
    if its.mode <> a_mode then
        perform trunkline.refuse(format('group "%s" of topic "%s" %s', a_group, a_topic, case a_mode when 'PULL' then 'has handlers' else 'is pulled from' end),
            'TL008', 'A group does one or the other: use another group, or cancel this one first.');
    elsif created then
        insert into trunkline.holder (subscription, partition, starts, base)
        select subscribe.subscription, p, k.starts, array(select int8multirange(int8range(0, u)) from unnest(k.starts) with ordinality x (u, n) order by n)
        from generate_series(0, t.partitions - 1) p
        cross join lateral (select array(select starts[p + t.partitions * l + 1] from generate_series(0, t.levels - 1) l order by l)) k (starts);
        perform trunkline.open_or_close(t.id) where t.accepts_bytes < 0;
    end if;
    if a_keys is not null then
        perform trunkline.check_keys(its, a_topic, a_keys);
        perform trunkline.want_keys(its, t, a_keys, created);
    end if;
    if its.status = 'DEAD' or created and how <> 'NOW' then
        perform trunkline.begin_catch_up(its, t, a_bound);
    end if;
    update trunkline.subscription s set dead_after = a_dead_after where s.id = subscribe.subscription and s.dead_after <> a_dead_after;
end $$;

create function trunkline.begin_session(a_name text, a_lease interval default '10 seconds') returns bigint
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    session_id bigint;
begin
    perform trunkline.notice_failover();
    insert into trunkline.session (name, lease) values (a_name, a_lease) returning id into session_id;
    return session_id;
end $$;

-- Renews a session's beat. False: it was ended, or a standby has taken over, and it is no longer anybody.
create function trunkline.beat(a_session bigint) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    perform trunkline.notice_failover();
    update trunkline.session s set beat = s.beat + 1, beat_at = clock_timestamp()
    where s.id = a_session and s.ended_at is null and s.timeline = trunkline.timeline();
    return found;
end $$;

-- Ends a session: its own, or one whose beat was seen to stand still. What it still holds is free, and was not let go in order.
create function trunkline.end_session(a_session bigint, a_beat bigint default null) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    update trunkline.session s set ended_at = clock_timestamp()
    where s.id = a_session and s.ended_at is null and (a_beat is null or s.beat = a_beat);
    if not found then
        return false;
    end if;
    delete from trunkline.member m where m.session = a_session;
    return true;
end $$;

-- A group that was dead lives again.
create function trunkline.join_group(a_subscription int, a_session bigint) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    insert into trunkline.member (subscription, session) values (a_subscription, a_session) on conflict do nothing;
    -- This locks the topic before the group, if it locks it.
    perform trunkline.set_status(a_subscription, 'ACTIVE') from trunkline.subscription s where s.id = a_subscription and s.status = 'DEAD';
    update trunkline.subscription s set unattended_since = null, released_at = null
    where s.id = a_subscription and (s.unattended_since is not null or s.released_at is not null) and s.status <> 'CANCELLED';
end $$;

create function trunkline.leave_group(a_subscription int, a_session bigint) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp
as $$
    delete from trunkline.member m where m.subscription = a_subscription and m.session = a_session
$$;

-- What a holder has instead of its session when somebody else moves it: nobody; or session 0, which is nobody too, if what its last owner may have died
-- of is still to be found.
create function trunkline.nobody_after(a_session bigint) returns bigint
    language sql stable
as $$
    select 0::bigint where a_session is not null and not exists (select from trunkline.session s where s.id = a_session and s.ended_at is null)
$$;

-- Takes free partitions, and those that no live session holds, which were orphaned, at the next epoch. What the last owner did is read afterwards,
-- in a statement of its own: this one may not yet see its last commit. First those that suit the caller: each of the group's members has a rank.
create function trunkline.take(
    a_session bigint, a_subscription int, a_most int, a_only int[] default null, a_members int default 1, a_rank int default 0)
    returns table (partition int, epoch bigint, orphaned boolean)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    with free as materialized (
        select h.partition, h.session is not null as orphaned
        from trunkline.holder h
        where h.subscription = a_subscription
          and (a_only is null or h.partition = any (a_only))
          and not exists (select from trunkline.session s where s.id = h.session and s.ended_at is null)
          and exists (select from trunkline.session s where s.id = a_session and s.ended_at is null and s.timeline = trunkline.timeline())
        order by h.partition % a_members <> a_rank, h.partition limit a_most for update of h skip locked
    )
    update trunkline.holder h set session = a_session, epoch = h.epoch + 1
    from free f
    where h.subscription = a_subscription and h.partition = f.partition
    returning h.partition, h.epoch, f.orphaned;
end $$;

-- All that a group has done in some partitions, per strand.
create function trunkline.done(a_subscription int, a_partitions int[]) returns table (strand int, done int8multirange)
    language sql stable
as $$
    select d.strand, range_agg(d.done)
    from (
        select h.partition + t.partitions * (l.level - 1)::int as strand, l.done
        from trunkline.holder h
        join trunkline.subscription s on s.id = h.subscription
        join trunkline.topic t on t.id = s.topic
        cross join lateral unnest(h.base) with ordinality as l (done, level)
        where h.subscription = a_subscription and h.partition = any (a_partitions)
        union all
        select p.strand, p.done
        from trunkline.subscription s
        join trunkline.topic t on t.id = s.topic
        cross join lateral (select k + t.partitions * l as strand from unnest(a_partitions) k, generate_series(0, t.levels - 1) l) x
        join trunkline.progress p on p.subscription = s.id and p.strand = x.strand
        join trunkline.holder h on h.subscription = s.id and h.partition = x.strand % t.partitions and p.epoch >= h.counts_from
        where s.id = a_subscription) d
    group by d.strand
$$;

-- Records what was done, for all groups of a process in one statement. Returns the numbers of the rows that were accepted; the others are fenced:
-- somebody else owns their partition now, or the log may be another one (see notice_failover).
create function trunkline.record(
    a_session bigint, a_subscriptions int[], a_partitions int[], a_strands int[], a_epochs bigint[], a_sequences bigint[], a_done text[],
    a_rejected text[] default null) returns int[]
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
    held int[];
begin
    perform from trunkline.session s where s.id = a_session and s.timeline = trunkline.timeline();
    if not found then
        return null;
    end if;
    select array_agg(k.n) into held
    from (
        select i.n
        from unnest(a_subscriptions, a_partitions, a_epochs) with ordinality as i (subscription, partition, epoch, n)
        join trunkline.holder h on h.subscription = i.subscription and h.partition = i.partition and h.epoch = i.epoch and h.session = a_session
        order by h.subscription, h.partition
        for no key update of h) k;
    if (select i.progress_slot from trunkline.installation i) = 0 then
        insert into trunkline.progress_0 (subscription, strand, epoch, sequence, done, rejected, session)
        select a_subscriptions[n], a_strands[n], a_epochs[n], a_sequences[n], a_done[n]::int8multirange, a_rejected[n]::int8multirange, a_session
        from unnest(held) n
        on conflict do nothing;
    else
        insert into trunkline.progress_1 (subscription, strand, epoch, sequence, done, rejected, session)
        select a_subscriptions[n], a_strands[n], a_epochs[n], a_sequences[n], a_done[n]::int8multirange, a_rejected[n]::int8multirange, a_session
        from unnest(held) n
        on conflict do nothing;
    end if;
    return held;
end $$;

-- Whether a record is there, once nobody holds the holder's row any more: what was under way is decided then.
create function trunkline.recorded(a_subscription int, a_partition int, a_strand int, a_epoch bigint, a_sequence bigint) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    perform from trunkline.holder h where h.subscription = a_subscription and h.partition = a_partition for no key update;
    return exists (
        select from trunkline.progress p
        where p.subscription = a_subscription and p.strand = a_strand and p.epoch = a_epoch and p.sequence = a_sequence);
end $$;

-- Adds what a slot of progress says to the bases of its holders. Returns how many of them did not know it yet.
create function trunkline.fold_progress(slot int) returns bigint
    language plpgsql
as $$
declare
    folded bigint;
begin
    if exists (select from trunkline.topic t where t.tracking = 'REFERENCE_COUNTING') then
        -- Nothing is recorded between what is traced and what is folded. Who is neither must not be waited for: its transactions may be long.
        execute format($q$
            select from trunkline.holder h
            where h.subscription in (
                      select s.id from trunkline.subscription s join trunkline.topic t on t.id = s.topic where t.tracking = 'REFERENCE_COUNTING')
               or (h.subscription, h.partition) in (
                      select p.subscription, p.strand %% t.partitions
                      from trunkline.progress_%s p
                      join trunkline.subscription s on s.id = p.subscription
                      join trunkline.topic t on t.id = s.topic)
            order by h.subscription, h.partition for no key update of h $q$, slot);
        perform trunkline.trace_progress(slot);
    end if;
    execute format($q$
        with found as (
            select p.subscription, p.strand %% t.partitions as partition, p.strand / t.partitions as level, p.epoch, range_agg(p.done) as done,
                   max(p.recorded_at) as moved_at
            from trunkline.progress_%s p
            join trunkline.subscription s on s.id = p.subscription
            join trunkline.topic t on t.id = s.topic
            group by p.subscription, p.strand, t.partitions, p.epoch
        ), locked as materialized (
            select h.subscription, h.partition, h.base, h.counts_from, h.moved_at
            from trunkline.holder h
            where (h.subscription, h.partition) in (select f.subscription, f.partition from found f)
            order by h.subscription, h.partition for no key update of h
        ), summed as (
            select l.subscription, l.partition, array_agg(b.done + coalesce(f.done, '{}') order by b.level) as base, max(f.moved_at) as moved_at
            from locked l
            cross join lateral unnest(l.base) with ordinality as b (done, level)
            left join lateral (
                select range_agg(k.done) as done, max(k.moved_at) as moved_at
                from found k
                where k.subscription = l.subscription and k.partition = l.partition and k.level = b.level - 1 and k.epoch >= l.counts_from) f on true
            group by l.subscription, l.partition
        )
        update trunkline.holder h set base = s.base, moved_at = greatest(h.moved_at, s.moved_at)
        from summed s
        where h.subscription = s.subscription and h.partition = s.partition and h.base <> s.base $q$, slot);
    get diagnostics folded = row_count;
    return folded;
end $$;

-- Goes on to the other slot of progress and grants if that is empty; what the last one says is added to the bases at once. Some time later, when
-- nobody writes to it any more and no dump that began before needs it, it is emptied, unless something new is found in it.
create function trunkline.rotate_progress(after interval default '5 minutes', clock timestamptz default clock_timestamp()) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set lock_timeout = '50ms'
as $$
declare
    i trunkline.installation;
    other int; used boolean; other_used boolean;
begin
    select k.* into i from trunkline.installation k where k.progress_since <= clock - after for no key update skip locked;
    if not found then
        return false;
    end if;
    other := 1 - i.progress_slot;
    execute format($q$
        select exists (select from trunkline.progress_%1$s) or exists (select from trunkline.grant_%1$s),
               exists (select from trunkline.progress_%2$s) or exists (select from trunkline.grant_%2$s) $q$, i.progress_slot, other)
    into used, other_used;
    if other_used then
        execute format('lock table trunkline.progress_%1$s, trunkline.grant_%1$s in access exclusive mode', other);
        if trunkline.fold_progress(other) + trunkline.fold_grants(other) = 0 then
            execute format('truncate trunkline.progress_%1$s, trunkline.grant_%1$s', other);
        end if;
    elsif used then
        update trunkline.installation set progress_slot = other, progress_since = clock;
        perform trunkline.fold_progress(i.progress_slot), trunkline.fold_grants(i.progress_slot);
    else
        return false;
    end if;
    return true;
end $$;

-- The first offset that is not done, of what is done from the beginning on.
create function trunkline.cursor_of(a_done int8multirange) returns bigint
    language sql immutable parallel safe
    return case when lower(a_done) = 0 then (select upper(r) from unnest(a_done) r limit 1) else 0 end;

-- How far a group is at least, per strand: its base, or what its last record says that begins at the beginning, as records of owners do. It looks at
-- one record for each strand, however many there are; what parallel handlers have recorded since is left out.
create function trunkline.cursors(a_subscription int) returns table (strand int, cursor bigint)
    language sql stable
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
    select x.strand, greatest(trunkline.cursor_of(x.done), trunkline.cursor_of(p.done))
    from (
        select h.counts_from, h.partition + t.partitions * (l.level - 1)::int as strand, l.done
        from trunkline.holder h
        join trunkline.subscription s on s.id = h.subscription
        join trunkline.topic t on t.id = s.topic
        cross join lateral unnest(h.base) with ordinality as l (done, level)
        where h.subscription = a_subscription) x
    left join lateral (
        select k.done from trunkline.progress k
        where k.subscription = a_subscription and k.strand = x.strand and k.epoch >= x.counts_from and k.done @> 0::bigint
        order by k.epoch desc, k.sequence desc limit 1) p on true
$$;

-- How far groups are, per strand: how many offsets are done; how many messages of the log are not (pending); how many of those that are wait aside for a
-- blocked key (parked); and when the oldest of both was appended. moved_at is of the whole group. The end of a topic's log is looked for once, however many
-- groups it has, and only where something was written.
create function trunkline.lags(a_subscriptions int[])
    returns table (
        subscription int, strand int, cursor bigint, end_offset bigint, done bigint, pending bigint, parked bigint, oldest timestamptz, moved_at timestamptz)
    language plpgsql stable
    set jit = off
as $$
#variable_conflict use_column
declare
    s record;
    ends bigint[]; ended_topic int;
    behind boolean;
    place record; piece record;
    found_strands int[]; found_times timestamptz[];
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
                where h.subscription = any (a_subscriptions)
                union all
                select p.subscription, p.strand, p.done
                from trunkline.progress p
                join trunkline.subscription k on k.id = p.subscription
                join trunkline.topic t on t.id = k.topic
                join trunkline.holder h on h.subscription = k.id and h.partition = p.strand % t.partitions and p.epoch >= h.counts_from
                where p.subscription = any (a_subscriptions)) d
            group by d.subscription, d.strand
        ), aside as (
            select p.subscription, p.strand, count(*) as messages, min(p.appended_at) as since
            from trunkline.parked p
            where p.subscription = any (a_subscriptions)
            group by p.subscription, p.strand
        ), strands as (
            select d.subscription, array_agg(d.strand order by d.strand) as numbers,
                   array_agg(trunkline.cursor_of(d.done) order by d.strand) as cursors,
                   array_agg(coalesce((select sum(upper(r) - lower(r)) from unnest(d.done) r), 0)::bigint order by d.strand) as counts,
                   array_agg(coalesce(a.messages, 0) order by d.strand) as parked,
                   array_agg(a.since order by d.strand) as parked_since
            from done d
            left join aside a on a.subscription = d.subscription and a.strand = d.strand
            group by d.subscription
        )
        select k.id, k.topic, g.id as segment, g.bases, x.numbers, x.cursors, x.counts, x.parked, x.parked_since,
               greatest((select max(h.moved_at) from trunkline.holder h where h.subscription = k.id), r.recorded_at) as moved_at
        from trunkline.subscription k
        join strands x on x.subscription = k.id
        cross join lateral (select y.id, y.bases from trunkline.segment y where y.topic = k.topic order by y.id desc limit 1) g
        left join (
            select p.subscription, max(p.recorded_at) as recorded_at
            from trunkline.progress p
            where p.subscription = any (a_subscriptions)
            group by p.subscription) r on r.subscription = k.id
        order by k.topic
    loop
        if s.topic is distinct from ended_topic then
            ended_topic := s.topic;
            ends := s.bases;
            if pg_relation_size(to_regclass(format('trunkline.segment_%s', s.segment))) > 0 then
                begin
                    execute format('select array(
                        select coalesce((select k.last_offset + 1 from trunkline.segment_%s k where k.partition = b.n - 1 order by k.last_offset desc limit 1), b.base)
                        from unnest($1) with ordinality b (base, n) order by b.n)', s.segment)
                    into ends using s.bases;
                exception when undefined_table then
                    null; -- the topic is being dropped
                end;
            end if;
        end if;
        found_strands := '{}';
        found_times := '{}';
        select bool_or(x.cursor < ends[x.strand + 1]) into behind from unnest(s.numbers, s.cursors) x (strand, cursor);
        if behind then
            -- Where the cursors stand: each in the last segment that began at or before it.
            for place in
                select y.id, y.opened_at, array_agg(x.strand) as strands, array_agg(x.cursor) as cursors
                from unnest(s.numbers, s.cursors) x (strand, cursor)
                cross join lateral (
                    select y.id, y.opened_at from trunkline.segment y
                    where y.topic = s.topic and y.bases[x.strand + 1] <= x.cursor order by y.id desc limit 1) y
                where x.cursor < ends[x.strand + 1]
                group by y.id, y.opened_at
            loop
                begin
                    execute format('select array_agg(x.strand) as strands, array_agg(f.appended_at) as times from unnest($1, $2) x (strand, cursor) cross join lateral (
                        select k.appended_at from trunkline.segment_%s k where k.partition = x.strand and k.last_offset >= x.cursor order by k.last_offset limit 1) f',
                        place.id)
                    into piece using place.strands, place.cursors;
                    found_strands := found_strands || piece.strands;
                    found_times := found_times || piece.times;
                exception
                    when undefined_table then
                        null; -- retention has dropped it meanwhile
                    when data_corrupted or index_corrupted then
                        -- Who looks why a group waits is to be told, as old as it can be, and not only that a page can not be read.
                        found_strands := found_strands || place.strands;
                        found_times := found_times || array_fill(place.opened_at, array[cardinality(place.strands)]);
                end;
            end loop;
        end if;
        return query
            select s.id, x.strand, x.cursor, ends[x.strand + 1], x.done, ends[x.strand + 1] - x.done, x.parked, least(x.parked_since, f.at), s.moved_at
            from unnest(s.numbers, s.cursors, s.counts, s.parked, s.parked_since) x (strand, cursor, done, parked, parked_since)
            left join unnest(found_strands, found_times) f (strand, at) on f.strand = x.strand;
    end loop;
end $$;

-- How far a group is behind, for people: one line per partition and level. lag counts the messages in the log that it has not done, parked those that wait
-- aside; age is that of the oldest of both. A cancelled group has nothing left to do.
create function trunkline.lag(a_group text, a_topic text)
    returns table (partition int, priority int, cursor bigint, end_offset bigint, lag bigint, parked bigint, age interval)
    language plpgsql stable
as $$
#variable_conflict use_column
declare
    s trunkline.subscription := trunkline.group_of(a_group, a_topic);
begin
    return query
        select l.strand % t.partitions, (array[0, 1, -1])[l.strand / t.partitions + 1], l.cursor, l.end_offset, l.pending, l.parked,
               case when l.oldest is not null then greatest(clock_timestamp() - l.oldest, interval '0') end
        from trunkline.topic t
        cross join trunkline.lags(array[s.id]) l
        where t.id = s.topic and s.status <> 'CANCELLED'
        order by l.strand;
end $$;
