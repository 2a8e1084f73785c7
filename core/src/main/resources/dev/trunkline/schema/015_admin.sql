-- For people: what groups are doing, why a message is where it is, and how to move a group.

-- Moves a group, or one partition of it: to BEGINNING, NOW, TIMESTAMP, OFFSET or MESSAGE. A running group is moved only by force: its owners are
-- fenced, and what they have under way is handled again or passed over. A dry run changes nothing. Returns, for each strand, what it does.
create function trunkline.seek(
    a_group text, a_topic text, a_to text, a_at timestamptz default null, a_number bigint default null, a_partition int default null,
    a_force boolean default false, a_dry_run boolean default false)
    returns table (partition int, priority int, was bigint, becomes bigint, replayed bigint, skipped bigint)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
    t trunkline.topic;
    s trunkline.subscription;
    targets bigint[];
    moved int[];
begin
    select k.* into t from trunkline.topic k where k.name = a_topic for share;
    s := trunkline.group_of(a_group, a_topic);
    if s.status = 'CANCELLED' then
        perform trunkline.refuse(format('group "%s" of topic "%s" is cancelled', a_group, a_topic), 'TL008', 'Start it anew.');
    elsif a_partition not between 0 and t.partitions - 1 then
        perform trunkline.refuse(format('topic "%s" has no partition %s', a_topic, a_partition), 'TL008', format('It has 0 to %s.', t.partitions - 1));
    end if;
    targets := trunkline.start_offsets(t, a_to, a_at, a_number);
    moved := array(select p from generate_series(0, t.partitions - 1) p where p = coalesce(a_partition, p));
    if not a_dry_run then
        perform from trunkline.subscription k where k.id = s.id for update;
        if not a_force and s.status <> 'PAUSED' and exists (
            select from trunkline.member m join trunkline.session k on k.id = m.session where m.subscription = s.id and k.ended_at is null) then
            perform trunkline.refuse(format('group "%s" of topic "%s" is running', a_group, a_topic), 'TL008',
                'Pause it or stop its processes first, or use force: what they have under way may be handled twice.');
        end if;
        perform from trunkline.holder h where h.subscription = s.id and h.partition = any (moved) order by h.partition for update;
    end if;
    return query
        select d.strand % t.partitions, (array[0, 1, -1])[d.strand / t.partitions + 1],
               trunkline.cursor_of(d.done), targets[d.strand + 1],
               coalesce((select sum(upper(r) - lower(r))::bigint from unnest(d.done * int8multirange(int8range(targets[d.strand + 1], null))) r), 0),
               coalesce((select sum(upper(r) - lower(r))::bigint from unnest(int8multirange(int8range(0, targets[d.strand + 1])) - d.done) r), 0)
        from trunkline.done(s.id, moved) d
        order by d.strand;
    if a_dry_run then
        return;
    end if;
    insert into trunkline.gap (subscription, strand, "from", "to", reason)
    select s.id, d.strand, lower(r), upper(r), 'SEEK'
    from trunkline.done(s.id, moved) d
    cross join lateral unnest(int8multirange(int8range(0, targets[d.strand + 1])) - d.done) r;
    -- A gap that is read after all is none.
    delete from trunkline.gap g where g.subscription = s.id and g.strand % t.partitions = any (moved) and g."from" >= targets[g.strand + 1];
    update trunkline.gap g set "to" = targets[g.strand + 1]
    where g.subscription = s.id and g.strand % t.partitions = any (moved) and g."to" > targets[g.strand + 1];
    update trunkline.holder h
    set session = trunkline.nobody_after(h.session),
        epoch = greatest(h.epoch, (select max(k.epoch) from trunkline.grants k where k.subscription = s.id and k.partition = h.partition)) + 1,
        counts_from = greatest(h.epoch, (select max(k.epoch) from trunkline.grants k where k.subscription = s.id and k.partition = h.partition)) + 1,
        base = array(
            select int8multirange(int8range(0, targets[h.partition + t.partitions * l + 1])) from generate_series(0, t.levels - 1) l order by l)
    where h.subscription = s.id and h.partition = any (moved);
    delete from trunkline.attempt a where a.subscription = s.id and a.strand % t.partitions = any (moved);
    delete from trunkline.suspect k where k.subscription = s.id and k.strand % t.partitions = any (moved);
    insert into trunkline.group_event (subscription, what, detail)
    values (s.id, 'seek', concat_ws(' ', a_to, a_at, a_number, 'partition ' || a_partition, case when a_force then 'by force' end));
end $$;

-- Declares all done that a group has not done, up to the end of the log: a gap is noted. Returns how many messages that were.
create function trunkline.force_complete(a_group text, a_topic text, a_partition int default null) returns bigint
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    s trunkline.subscription := trunkline.group_of(a_group, a_topic);
    passed bigint;
begin
    if s.status = 'CANCELLED' then
        perform trunkline.refuse(format('group "%s" of topic "%s" is cancelled', a_group, a_topic), 'TL008', 'It has nothing left to do.');
    end if;
    perform from trunkline.topic t where t.id = s.topic for share;
    passed := trunkline.pass_over(s.id, (trunkline.bounds(s.topic)).ends, 'FORCED', a_partition);
    insert into trunkline.group_event (subscription, what, detail) values (s.id, 'force complete', passed || ' messages');
    return passed;
end $$;

-- Calls a dead group back to life; without history it begins at the end of the log, with a bound so many messages before it. What it misses is a gap.
create function trunkline.resurrect(a_group text, a_topic text, a_history boolean default true, a_bound bigint default null) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    s trunkline.subscription;
begin
    perform trunkline.check_bound(a_bound);
    perform from trunkline.topic t where t.name = a_topic and t.unheard = 'REFUSE' for no key update;
    perform from trunkline.topic t where t.name = a_topic for share;
    s := trunkline.group_of(a_group, a_topic);
    if s.status <> 'DEAD' then
        perform trunkline.refuse(format('group "%s" of topic "%s" is %s, not dead', a_group, a_topic, s.status), 'TL008',
            'Resume it if it is paused; move it with trunkline.seek.');
    end if;
    perform trunkline.change_group(a_group, a_topic, 'ACTIVE');
    if not a_history then
        perform trunkline.force_complete(a_group, a_topic);
    else
        perform trunkline.begin_catch_up(trunkline.group_of(a_group, a_topic), t, a_bound) from trunkline.topic t where t.name = a_topic;
    end if;
end $$;

-- Since when the oldest message lies in the log that a group has not done.
create function trunkline.pending_since(a_subscription int) returns timestamptz
    language plpgsql stable
    set jit = off
as $$
begin
    return (
        select min(f.appended_at)
        from trunkline.lags(array[a_subscription]) l
        join trunkline.subscription s on s.id = l.subscription
        cross join lateral trunkline.frames(s.topic, l.strand, int8multirange(int8range(l.cursor, l.cursor + 1))) f
        where l.pending > 0);
end $$;

-- Whether somebody has pulled from a group within five minutes, or has a batch of it.
create function trunkline.is_pulled(a_subscription int) returns boolean
    language sql stable
as $$
    select exists (select from trunkline.grants k where k.subscription = a_subscription and k.granted_at > clock_timestamp() - interval '5 minutes')
        or exists (
            select from trunkline.holder h
            cross join lateral (
                select k.given, k.expires_at from trunkline.grants k
                where k.subscription = h.subscription and k.partition = h.partition order by k.epoch desc, k.sequence desc limit 1) g
            where h.subscription = a_subscription and g.expires_at > clock_timestamp() and not isempty(g.given))
$$;

-- How a group is: CANCELLED, DEAD, PAUSED; NEAR_TIMEOUT (half of the time until it is dead has passed); UNATTENDED (nobody serves it; one that is pulled
-- from: nobody pulls, and something has waited for five minutes); STALLED (it is served, what it has to do has been there for five minutes, and for as
-- long it has done nothing); FLAPPING (nothing of that, but it died three times in a day); else HEALTHY.
create function trunkline.group_health(s trunkline.subscription, semantics text, pending bigint, moved_at timestamptz) returns text
    language sql stable
    return case
        when s.status <> 'ACTIVE' then s.status
        when semantics = 'PUB_SUB' and s.unattended_since < clock_timestamp() - s.dead_after / 2 and s.mode = 'HANDLER' then 'NEAR_TIMEOUT'
        when s.unattended_since is not null and s.mode = 'HANDLER' then 'UNATTENDED'
        -- Only few come so far as to be asked for their oldest message, which is dear.
        when pending > 0 and greatest(moved_at, s.created_at, s.status_since) < clock_timestamp() - interval '5 minutes'
            and trunkline.pending_since(s.id) < clock_timestamp() - interval '5 minutes'
            then case when s.mode = 'PULL' and not trunkline.is_pulled(s.id) then 'UNATTENDED' else 'STALLED' end
        when (select count(*) from trunkline.group_event e
              where e.subscription = s.id and e.what = 'ACTIVE to DEAD' and e.at > clock_timestamp() - interval '1 day') >= 3 then 'FLAPPING'
        else 'HEALTHY'
    end;

-- One line for each of these groups. How far they are is asked once for all of them.
create function trunkline.groups_of(a_subscriptions int[])
    returns table (
        id int, group_name text, topic text, status text, mode text, health text, members bigint, last_beat_at timestamptz, pending bigint, done bigint,
        last_progress_at timestamptz, parked bigint, dead_letters bigint, passed_over bigint, unattended_since timestamptz, dead_after interval,
        released_at timestamptz, start_mode text, start_at timestamptz, start_number bigint, created_at timestamptz, status_since timestamptz)
    language sql stable
    set jit = off
as $$
    select s.id, s.group_name, t.name, s.status, s.mode, trunkline.group_health(s, t.semantics, coalesce(p.pending, 0), p.moved_at),
           m.members, m.last_beat_at, coalesce(p.pending, 0), coalesce(p.done, 0), p.moved_at,
           (select count(*) from trunkline.parked k where k.subscription = s.id),
           (select count(*) from trunkline.dead_letter d where d.subscription = s.id),
           (select coalesce(sum(g."to" - g."from"), 0)::bigint from trunkline.gap g where g.subscription = s.id),
           s.unattended_since, s.dead_after, s.released_at, s.start_mode, s.start_at, s.start_number, s.created_at, s.status_since
    from trunkline.subscription s
    join trunkline.topic t on t.id = s.topic
    left join (
        select l.subscription, sum(l.pending)::bigint as pending, sum(l.done)::bigint as done, max(l.moved_at) as moved_at
        from trunkline.lags(a_subscriptions) l group by l.subscription) p on p.subscription = s.id
    cross join lateral (
        select count(*) filter (where k.ended_at is null) as members, max(k.beat_at) as last_beat_at
        from trunkline.member x join trunkline.session k on k.id = x.session where x.subscription = s.id) m
    where s.id = any (a_subscriptions)
$$;

-- One line for each group.
create view trunkline.groups as
    select g.id, g.group_name collate "C" as group_name, g.topic collate "C" as topic, g.status, g.mode, g.health, g.members, g.last_beat_at, g.pending, g.done,
           g.last_progress_at, g.parked, g.dead_letters, g.passed_over, g.unattended_since, g.dead_after, g.released_at, g.start_mode, g.start_at,
           g.start_number, g.created_at, g.status_since
    from trunkline.groups_of(array(select s.id from trunkline.subscription s)) g;

-- One line for each topic: how much it keeps, and which group holds back what retention would let go, since when, and how much that is; how many
-- segments could go and are still there; and how many messages were dropped and published in the last hour, or since the segment before it began.
create view trunkline.topic_health as
    select t.name as topic, t.semantics, g.segments, g.bytes, g.oldest as oldest_segment_opened_at,
           n.groups, t.semantics = 'PUB_SUB' and n.groups = 0 as unheard,
           k.pinned_by, k.pinned_since, k.pinned_bytes,
           o.overdue_segments, o.overdue_segments > 2 as falling_behind,
           (select coalesce(sum(d.messages), 0)::bigint from trunkline.dropped_segment d
            where d.topic = t.id and d.at > clock_timestamp() - interval '1 hour') as dropped_messages,
           (select coalesce(sum(b.ends[n] - coalesce(x.bases[n], b.firsts[n])), 0)::bigint
            from trunkline.bounds(t.id) b
            left join lateral (
                select s.bases from trunkline.segment s
                where s.topic = t.id and s.opened_at <= clock_timestamp() - interval '1 hour' order by s.id desc limit 1) x on true
            cross join lateral generate_subscripts(b.ends, 1) n) as published_messages
    from trunkline.topic t
    cross join lateral (
        select count(*) as segments, sum(pg_total_relation_size(to_regclass(format('trunkline.segment_%s', s.id))))::bigint as bytes, min(s.opened_at) as oldest
        from trunkline.segment s where s.topic = t.id) g
    cross join lateral (
        select count(*) as groups from trunkline.subscription s where s.topic = t.id and s.status <> 'CANCELLED') n
    left join lateral (
        -- Of the groups that count, the one that needs the oldest segment, if retention is over for that one.
        select s.group_name as pinned_by, x.opened_at + t.retention as pinned_since, (
                   select sum(pg_total_relation_size(to_regclass(format('trunkline.segment_%s', y.id))))::bigint
                   from trunkline.segment y where y.topic = t.id and y.id >= x.id and y.opened_at < clock_timestamp() - t.retention) as pinned_bytes
        from trunkline.subscription s
        cross join lateral (
            select y.id, y.opened_at, y.bases
            from trunkline.segment y
            where y.topic = t.id and exists (select from trunkline.segment z where z.topic = t.id and z.id > y.id and z.opened_at < clock_timestamp() - t.retention)
            order by y.id limit 1) x
        cross join lateral (select z.bases from trunkline.segment z where z.topic = t.id and z.id > x.id order by z.id limit 1) z
        where s.topic = t.id and s.status in ('ACTIVE', 'PAUSED') and s.released_at is null and exists (
            select from trunkline.cursors(s.id) c where c.cursor < z.bases[c.strand + 1])
        order by s.id limit 1) k on true
    cross join lateral (
        -- The newest segment that was opened before that holds messages that may not go yet.
        select greatest(count(*) - 1, 0) as overdue_segments
        from trunkline.segment s cross join lateral trunkline.cut_offs(t, clock_timestamp()) c
        where s.topic = t.id and s.opened_at < case when k.pinned_by is null then c.keep else c.cap end) o;

-- What a message of an ordered topic waits behind on its key: the first one before it that a group has not done. Null: nothing.
create function trunkline.waits_behind(s trunkline.subscription, t trunkline.topic, a_strand int, a_offset bigint, a_key text, a_undone int8multirange) returns text
    language plpgsql stable
as $$
declare
    first record; a trunkline.attempt;
begin
    if t.ordering <> 'ORDERED' or a_key is null then
        return null;
    end if;
    select x.* into first
    from (
        (select d."offset", format('dead letter %s, offset %s, until it is redriven or discarded', d.id, d."offset") as what
        from trunkline.dead_letter d
        where d.subscription = s.id and d.strand = a_strand and d.key = a_key and d.stops_key and d."offset" < a_offset order by d."offset" limit 1)
        union all
        (select p."offset", format('offset %s, which is parked', p."offset")
        from trunkline.parked p
        where p.subscription = s.id and p.strand = a_strand and p.key = a_key and p."offset" < a_offset order by p."offset" limit 1)
        union all
        (select m."offset", format('offset %s', m."offset")
        from trunkline.strand_messages(t.id, a_strand, trunkline.first_of(a_undone * int8multirange(int8range(0, a_offset)), 10000)) m
        where m.key = a_key order by m."offset" limit 1)) x
    order by x."offset" limit 1;
    if not found then
        return null;
    end if;
    select k.* into a from trunkline.attempt k where k.subscription = s.id and k.strand = a_strand and k."offset" = first."offset";
    return concat(first.what, ', failed ' || a.attempts || ' times', case when a.due_at > clock_timestamp() then ', due again at ' || a.due_at end);
end $$;

-- Why a message is where it is, for a group: by its id, or by partition and offset. One line for each thing that is known.
create function trunkline.explain(
    a_group text, a_topic text, a_id bigint default null, a_partition int default null, a_offset bigint default null, a_priority int default 0)
    returns table (fact text, detail text)
    language plpgsql stable security definer
    set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
    t trunkline.topic;
    s trunkline.subscription := trunkline.group_of(a_group, a_topic);
    its_strand int; its_offset bigint; its_key text; its_time timestamptz; its_id bigint := a_id;
    b record; h record; x record; held trunkline.grants;
    cursor bigint; is_done boolean; is_parked boolean; undone int8multirange; behind text;
begin
    select k.* into t from trunkline.topic k where k.name = a_topic;
    select * into b from trunkline.bounds(t.id);
    if a_id is not null then
        select m.strand, m."offset", m.key, m.appended_at into its_strand, its_offset, its_key, its_time from trunkline.find_message(t.id, a_id) m;
        if its_strand is null then
            select d.strand, d."offset", d.key into its_strand, its_offset, its_key from trunkline.dead_letter d where d.subscription = s.id and d.message_id = a_id;
        end if;
        if its_strand is null then
            select k.* into x
            from (
                select d.due_at, d.published_at from trunkline.delayed d where d.topic = t.id and d.id = a_id
                union all
                select o.due_at, o.published_at from trunkline.outbox o where o.topic = t.id and o.id = a_id) k limit 1;
            return query select 'not in the log', case
                when trunkline.has_offset(a_topic, a_id) then 'It was never committed, was dropped by retention, or is of another topic.'
                when x.due_at > clock_timestamp() then format('It is committed and delayed: it is due at %s.', x.due_at)
                else format('It was published at %s%s, is committed, and waits in the outbox for the relay.', x.published_at, ', was due at ' || x.due_at) end;
            return;
        end if;
    elsif a_partition is null or a_offset is null then
        perform trunkline.refuse('which message?', 'TL008', 'Give its id, or its partition and offset.');
    elsif a_partition not between 0 and t.partitions - 1 or a_priority not between -1 and 1 then
        perform trunkline.refuse(format('topic "%s" has no partition %s at priority %s', a_topic, a_partition, a_priority), 'TL008',
            format('Partitions are 0 to %s, priorities -1, 0 and 1.', t.partitions - 1));
    else
        its_strand := a_partition + t.partitions * ((a_priority + 3) % 3);
        its_offset := a_offset;
        if its_offset >= coalesce(b.ends[its_strand + 1], 0) then
            return query select 'not in the log', format('The log of partition %s ends at %s.', a_partition, coalesce(b.ends[its_strand + 1], 0));
            return;
        end if;
        select m.id, m.key, m.appended_at into its_id, its_key, its_time
        from trunkline.read(a_topic, its_strand, its_offset, 1) m where m."offset" = its_offset;
    end if;
    return query select 'message', concat_ws(', ', 'partition ' || its_strand % t.partitions,
        (array[null, 'priority HIGH', 'priority LOW'])[its_strand / t.partitions + 1], 'offset ' || its_offset, 'id ' || its_id, 'key ' || its_key,
        'appended ' || its_time);
    select d.done @> its_offset, trunkline.cursor_of(d.done), int8multirange(int8range(0, its_offset)) - d.done into is_done, cursor, undone
    from trunkline.done(s.id, array[its_strand % t.partitions]) d where d.strand = its_strand;
    for x in select g.* from trunkline.gap g where g.subscription = s.id and g.strand = its_strand and its_offset >= g."from" and its_offset < g."to" loop
        return query select 'passed over', format('%s at %s: offsets %s up to %s.', lower(x.reason), x.at, x."from", x."to");
    end loop;
    for x in select d.* from trunkline.dead_letter d where d.subscription = s.id and d.strand = its_strand and d."offset" = its_offset loop
        return query select 'dead letter', format('number %s, after %s attempts, at %s: %s%s', x.id, x.attempts, x.buried_at, x.error,
            case when x.stops_key then '; its key waits until it is redriven or discarded' else '' end);
    end loop;
    is_parked := exists (select from trunkline.parked p where p.subscription = s.id and p.strand = its_strand and p."offset" = its_offset);
    if is_parked then
        return query select 'parked', 'It waits aside, in order, because its key was blocked.';
    elsif is_done and not exists (
        select from trunkline.gap k where k.subscription = s.id and k.strand = its_strand and its_offset >= k."from" and its_offset < k."to")
        and not exists (select from trunkline.dead_letter d where d.subscription = s.id and d.strand = its_strand and d."offset" = its_offset) then
        return query select 'done', case when its_offset < (
                select k.starts[its_strand / t.partitions + 1] from trunkline.holder k
                where k.subscription = s.id and k.partition = its_strand % t.partitions) then 'The group began after it.'
            else 'It was handled, or a filter of the group let it pass.' end;
    end if;
    if not is_parked and is_done is distinct from false then
        return;
    end if;
    for x in select a.* from trunkline.attempt a where a.subscription = s.id and a.strand = its_strand and a."offset" = its_offset loop
        return query select 'failed', format('%s times%s, last at %s; it is tried again%s.', x.attempts, ' of ' || s.attempts, x.history[cardinality(x.history)],
            case when x.due_at > clock_timestamp() then ', from ' || x.due_at || ' on' end);
    end loop;
    behind := trunkline.waits_behind(s, t, its_strand, its_offset, its_key, undone);
    if behind is not null then
        return query select 'behind', format('On its key it waits for %s.', behind);
    end if;
    select k.session, k.epoch, p.name, p.beat_at, p.ended_at into h
    from trunkline.holder k left join trunkline.session p on p.id = k.session
    where k.subscription = s.id and k.partition = its_strand % t.partitions;
    if s.mode = 'PULL' then
        select k.* into held from trunkline.last_grant(s.id, its_strand % t.partitions) k where k.epoch > h.epoch and not isempty(k.given);
    end if;
    if held.strand = its_strand and held.given @> its_offset then
        return query select 'in a batch', format('It was given out at %s, at epoch %s; %s.', held.granted_at, held.epoch, case
            when held.expires_at > clock_timestamp() then format('the lease ends at %s', held.expires_at)
            else format('the lease ended at %s: whoever pops the partition next has it counted as a failure', held.expires_at) end);
        return;
    end if;
    return query select 'waiting', case
        when s.status <> 'ACTIVE' then format('The group is %s since %s.', s.status, s.status_since)
        when held.expires_at > clock_timestamp() then
            format('Its partition has an open batch: offsets %s, at epoch %s, until %s. It is done up to %s.', held.given, held.epoch, held.expires_at, cursor)
        when s.mode = 'PULL' then format('The group is pulled from; it has done this partition up to %s.', cursor)
        when h.session is null or h.ended_at is not null then 'No process owns the partition.'
        else format('Process %s owns the partition at epoch %s, and beat at %s; the partition is done up to %s.', h.name, h.epoch, h.beat_at, cursor) end;
end $$;
