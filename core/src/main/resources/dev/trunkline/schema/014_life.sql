-- The life of groups: where they begin, who still serves them, what they hold back, and what they miss.

-- What was done to groups, by people and by upkeep.
create table trunkline.group_event (
    id            bigint generated always as identity primary key,
    subscription  int not null,
    at            timestamptz not null default clock_timestamp(),
    -- Who asked for it: a database user.
    by            text not null default session_user,
    what          text not null,
    detail        text
);
create index on trunkline.group_event (subscription, at);

-- Messages that a group has not been given, and never will be: offsets from "from" up to, not including, "to".
create table trunkline.gap (
    subscription  int not null,
    strand        int not null,
    "from"        bigint not null,
    "to"          bigint not null,
    reason        text not null check (reason in ('RETENTION', 'SEEK', 'BOUND', 'FORCED')),
    at            timestamptz not null default clock_timestamp(),
    primary key (subscription, strand, "from", "to", at)
);

create view trunkline.gaps as
    select s.group_name, t.name as topic, g.strand % t.partitions as partition, (array[0, 1, -1])[g.strand / t.partitions + 1] as priority,
           g."from", g."to", g."to" - g."from" as messages, g.reason, g.at
    from trunkline.gap g
    join trunkline.subscription s on s.id = g.subscription
    join trunkline.topic t on t.id = s.topic;

-- The subscription of a group, or a refusal.
create function trunkline.group_of(a_group text, a_topic text) returns trunkline.subscription
    language plpgsql stable
as $$
declare
    s trunkline.subscription;
begin
    if not exists (select from trunkline.topic t where t.name = a_topic) then
        perform trunkline.refuse(format('there is no topic "%s"', a_topic), 'TL001', 'Look at trunkline.topic for the names.');
    end if;
    select k.* into s
    from trunkline.subscription k join trunkline.topic t on t.id = k.topic
    where k.group_name = a_group and t.name = a_topic
    order by k.status = 'CANCELLED', k.id desc limit 1;
    if s.id is null then
        perform trunkline.refuse(format('there is no group "%s" of topic "%s"', a_group, a_topic), 'TL008', 'Look at trunkline.groups for the names.');
    end if;
    return s;
end $$;

-- ---- where a group begins ----

-- A message by its id. Reads the log from its end: for people.
create function trunkline.find_message(a_topic int, a_id bigint, out strand int, out "offset" bigint, out appended_at timestamptz, out key text)
    language plpgsql stable
as $$
declare
    g int;
begin
    for g in select s.id from trunkline.segment s where s.topic = a_topic order by s.id desc loop
        execute format($q$
            select f.partition, f.last_offset - cardinality(f.ids) + i.n, f.appended_at, f.keys[i.n]
            from trunkline.segment_%s f
            cross join lateral unnest(f.ids) with ordinality as i (id, n)
            where f.base_id <= $1 and f.base_id + i.id = $1 limit 1 $q$, g)
        into strand, "offset", appended_at, key using a_id;
        exit when strand is not null;
    end loop;
end $$;

-- Refuses what is no place at all, in whatever topic.
create function trunkline.check_start(a_start text, a_at timestamptz, a_number bigint) returns void
    language plpgsql stable
as $$
begin
    if a_start is null or a_start not in ('NOW', 'BEGINNING', 'TIMESTAMP', 'OFFSET', 'MESSAGE') then
        perform trunkline.refuse(format('"%s" is no place to start', a_start), 'TL008', 'Use NOW, BEGINNING, TIMESTAMP, OFFSET or MESSAGE.');
    elsif (a_start = 'TIMESTAMP') and a_at is null or (a_start in ('OFFSET', 'MESSAGE')) and a_number is null then
        perform trunkline.refuse(format('to start at a %s needs one', lower(a_start)), 'TL008', 'Say which.');
    elsif a_at is not null and a_start not in ('TIMESTAMP', 'NOW') or a_number is not null and a_start not in ('OFFSET', 'MESSAGE') then
        perform trunkline.refuse('a group begins at one place: two were named', 'TL008', 'Choose one.');
    end if;
end $$;

-- The first offset of each strand that a group which begins so is given.
create function trunkline.start_offsets(t trunkline.topic, a_start text, a_at timestamptz, a_number bigint) returns bigint[]
    language plpgsql stable
as $$
declare
    b record; m record;
begin
    perform trunkline.check_start(a_start, a_at, a_number);
    if a_at > clock_timestamp() then
        perform trunkline.refuse(format('%s is yet to come', a_at), 'TL008', 'Start NOW, or at a time that has passed.');
    end if;
    select * into b from trunkline.bounds(t.id);
    case
        when a_start = 'BEGINNING' then
            return b.firsts;
        when a_at is not null then -- a time, or now with a look back
            return array(select trunkline.offset_at(t.id, n - 1, a_at) from generate_series(1, cardinality(b.ends)) n order by n);
        when a_start = 'NOW' then
            return b.ends;
        when a_start = 'OFFSET' then
            if a_number < 0 or a_number > (select max(e) from unnest(b.ends) e) then
                perform trunkline.refuse(format('offset %s is not in topic "%s": the longest of its partitions ends at %s', a_number, t.name,
                    (select max(e) from unnest(b.ends) e)), 'TL008', 'Choose one from 0 up to there.');
            end if;
            return array(select least(greatest(a_number, b.firsts[n]), b.ends[n]) from generate_series(1, cardinality(b.ends)) n order by n);
        else
            m := trunkline.find_message(t.id, a_number);
            if m.strand is null then
                perform trunkline.refuse(format('message %s is not in the log of topic "%s"', a_number, t.name), 'TL008',
                    'It was dropped, has yet to be relayed, or is of another topic.');
            end if;
            -- The message, and in other partitions what was appended when it was, or later.
            return array(
                select case when n - 1 = m.strand then m."offset" else trunkline.offset_at(t.id, n - 1, m.appended_at) end
                from generate_series(1, cardinality(b.ends)) n order by n);
    end case;
end $$;

create function trunkline.set_default_start(choice text) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    update trunkline.installation set default_start = choice;
exception when check_violation or not_null_violation then
    raise 'groups begin NOW or at the BEGINNING by default, not at "%"', choice using errcode = 'TL008', hint = 'Choose one.';
end $$;

-- ---- status ----

-- Lets a topic take messages, or not: one that refuses them while nobody listens. Who calls it has locked the topic, or knows that it is not so set.
create function trunkline.open_or_close(a_topic int) returns void
    language sql
as $$
    update trunkline.topic t set accepts_bytes = k.accepts
    from (
        select p.id, case when p.unheard = 'REFUSE' and p.semantics = 'PUB_SUB' and not exists (
                   select from trunkline.subscription s where s.topic = p.id and s.status in ('ACTIVE', 'PAUSED')) then -1 else p.max_payload_bytes end as accepts
        from trunkline.topic p where p.id = a_topic) k
    where t.id = k.id and t.accepts_bytes <> k.accepts
$$;

-- The group of a topic that becomes a queue is called as the one group of a queue is.
create function trunkline.share_group(a_topic int) returns void
    language plpgsql
as $$
declare
    names text[] := array(select s.group_name from trunkline.subscription s where s.topic = a_topic and s.status <> 'CANCELLED' order by s.group_name);
begin
    if cardinality(names) > 1 then
        perform trunkline.refuse(format('the topic has %s groups (%s): a queue has one', cardinality(names), array_to_string(names, ', ')), 'TL005',
            'Cancel all but the one that goes on with the queue.');
    end if;
    update trunkline.subscription s set group_name = 'shared', former_name = s.group_name
    where s.topic = a_topic and s.status <> 'CANCELLED' and s.group_name <> 'shared';
end $$;

-- Changes a group's status. Returns the status it had; nothing is changed where the transition is not allowed.
create function trunkline.set_status(a_subscription int, a_status text) returns text
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    had text;
begin
    perform from trunkline.topic t join trunkline.subscription s on s.topic = t.id
    where s.id = a_subscription and t.unheard = 'REFUSE' for no key update of t;
    select s.status into had from trunkline.subscription s where s.id = a_subscription for update;
    if (had, a_status) in (('ACTIVE', 'PAUSED'), ('PAUSED', 'ACTIVE'), ('DEAD', 'ACTIVE'))
        or (a_status = 'CANCELLED' and had in ('ACTIVE', 'PAUSED', 'DEAD')) then
        update trunkline.subscription s
        set status = a_status, status_since = clock_timestamp(),
            -- Who calls a group back to life gives it time for somebody to serve it.
            unattended_since = case when had = 'DEAD' and s.unattended_since is not null then clock_timestamp() else s.unattended_since end,
            released_at = case a_status when 'ACTIVE' then null else s.released_at end
        where s.id = a_subscription;
        insert into trunkline.group_event (subscription, what) values (a_subscription, had || ' to ' || a_status);
        perform trunkline.open_or_close(t.id) from trunkline.topic t join trunkline.subscription s on s.topic = t.id
        where s.id = a_subscription and t.unheard = 'REFUSE';
    end if;
    return had;
end $$;

-- The same, where what is not allowed is refused.
create function trunkline.change_status(a_subscription int, a_status text) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    had text;
begin
    if a_status is null or a_status not in ('ACTIVE', 'PAUSED', 'CANCELLED') then
        perform trunkline.refuse(format('a group can not be made "%s"', a_status), 'TL008', 'It can be made ACTIVE, PAUSED or CANCELLED.');
    end if;
    had := trunkline.set_status(a_subscription, a_status);
    perform trunkline.refuse(format('group "%s" of topic "%s" is %s: it can not become %s', s.group_name, t.name, had, a_status), 'TL008',
        'ACTIVE and PAUSED become each other, DEAD becomes ACTIVE, and any becomes CANCELLED, for good.')
    from trunkline.subscription s left join trunkline.topic t on t.id = s.topic
    where s.id = a_subscription and (s.status <> a_status or had = a_status);
end $$;

create function trunkline.change_group(a_group text, a_topic text, a_status text) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp
as $$
    select trunkline.change_status((trunkline.group_of(a_group, a_topic)).id, a_status)
$$;

-- Looks who is still served. A session counts as long as it may be believed in; one that is silent is not ended here. Only what was
-- unserved at two looks, with the time between them and no beat since the first, is dead: after an outage of the database nobody is, nor after two.
-- Returns how many groups changed.
create function trunkline.watch_groups(clock timestamptz default clock_timestamp()) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set jit = off set lock_timeout = '500ms'
as $$
declare
    g record;
    changed int := 0;
    did boolean;
begin
    for g in
        select s.id, s.topic, s.status, s.unattended_since,
               case s.mode
                   when 'PULL' then exists (select from trunkline.grants k where k.subscription = s.id and k.granted_at > clock - interval '1 minute')
                   else exists (
                       select from trunkline.member m join trunkline.session k on k.id = m.session
                       where m.subscription = s.id and k.ended_at is null and k.beat_at > clock - greatest(2 * k.lease, interval '5 seconds'))
               end as attended,
               exists (
                   select from trunkline.member m join trunkline.session k on k.id = m.session
                   where m.subscription = s.id and k.ended_at is null and k.beat_at >= s.unattended_since) as beaten_since,
               s.mode = 'HANDLER' and t.semantics = 'PUB_SUB' as may_die, t.zombie_ttl, t.unheard = 'REFUSE' as refuses, s.dead_after
        from trunkline.subscription s join trunkline.topic t on t.id = s.topic
        where s.status <> 'CANCELLED'
        order by s.id
    loop
        did := false;
        -- A topic that is opened or closed is locked before its groups are; and a group that begins meanwhile is seen by what follows.
        if g.refuses and (g.attended and g.status = 'DEAD' or g.attended = (g.unattended_since is not null) or g.beaten_since
            or g.may_die and g.status = 'ACTIVE' and g.unattended_since <= clock - g.dead_after) then
            perform from trunkline.topic t where t.id = g.topic for no key update;
        end if;
        if g.attended and g.unattended_since is not null then
            update trunkline.subscription s set unattended_since = null, released_at = null where s.id = g.id;
            did := true;
        elsif not g.attended and (g.unattended_since is null or g.beaten_since) then
            update trunkline.subscription s set unattended_since = clock where s.id = g.id and s.unattended_since is not distinct from g.unattended_since;
            did := true;
        end if;
        if g.attended and g.status = 'DEAD' then
            perform trunkline.set_status(g.id, 'ACTIVE');
        elsif g.may_die and not g.attended then
            update trunkline.subscription s set status = 'DEAD', status_since = clock
            where s.id = g.id and s.status = 'ACTIVE' and s.unattended_since <= clock - s.dead_after;
            if found then
                insert into trunkline.group_event (subscription, what) values (g.id, 'ACTIVE to DEAD');
                perform trunkline.open_or_close(t.id) from trunkline.topic t where t.id = g.topic and t.unheard = 'REFUSE';
                did := true;
            end if;
        end if;
        update trunkline.subscription s set released_at = clock
        where s.id = g.id and s.released_at is null
          and (s.unattended_since <= clock - g.zombie_ttl or (s.status = 'PAUSED' and s.status_since <= clock - g.zombie_ttl));
        if found then
            insert into trunkline.group_event (subscription, what) values (g.id, 'released');
            did := true;
        end if;
        changed := changed + did::int;
    end loop;
    return changed;
end $$;

-- Deletes what a table has of some groups, so much of it that it does not take long. Returns whether there may be more.
create function trunkline.delete_some(place text, subscriptions int[]) returns boolean
    language plpgsql
as $$
declare
    deleted int;
begin
    execute format('delete from trunkline.%1$I d where d.ctid = any (array(select k.ctid from trunkline.%1$I k where k.subscription = any ($1) limit 10000))', place)
    using subscriptions;
    get diagnostics deleted = row_count;
    return deleted = 10000;
end $$;

-- Forgets cancelled groups, after a day what they had under way, after thirty all of them; and sessions that ended long ago.
create function trunkline.sweep_groups(clock timestamptz default clock_timestamp()) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    old int[]; forgotten int[];
    swept int; gone int;
    place text;
    more boolean := false;
begin
    old := array(select s.id from trunkline.subscription s where s.status = 'CANCELLED' and s.status_since < clock - interval '1 day');
    -- A cancelled subscription is remembered as long as a wildcard would make it again.
    forgotten := array(
        select s.id from trunkline.subscription s left join trunkline.topic t on t.id = s.topic
        where s.id = any (old) and s.status_since < clock - interval '30 days'
          and not exists (
              select from trunkline.wildcard w
              where w.group_name = s.group_name and w.created_at <= s.status_since and trunkline.matches(w, t)));
    delete from trunkline.holder h where h.subscription = any (old);
    get diagnostics swept = row_count;
    delete from trunkline.member m where m.subscription = any (old) or exists (
        select from trunkline.session s where s.id = m.session and s.ended_at < clock - interval '1 day');
    foreach place in array array['attempt', 'blocked', 'parked', 'suspect', 'grant_base', 'wanted_key', 'trail'] loop
        more := trunkline.delete_some(place, old) or more;
    end loop;
    delete from trunkline.dropped_segment d where d.at < clock - interval '1 day';
    foreach place in array array['dead_letter', 'gap', 'group_event'] loop
        more := trunkline.delete_some(place, forgotten) or more;
    end loop;
    -- A group is forgotten last: what is left of it would be found no more.
    delete from trunkline.subscription s where s.id = any (forgotten) and not more;
    get diagnostics gone = row_count;
    delete from trunkline.session s where s.ended_at < clock - interval '1 day'
      and not exists (select from trunkline.holder h where h.session = s.id);
    -- Last, because processes beat on these rows, and wait as long as they are locked. Sweeps come about once a minute. They are counted: by the clock,
    -- one that is set forth would end who is alive.
    update trunkline.session s
    set swept_beat = s.beat, still = case when s.swept_beat = s.beat then s.still + 1 else 0 end,
        ended_at = case when s.swept_beat = s.beat and (s.still + 1) * interval '1 minute' >= greatest(10 * s.lease, interval '1 hour') then clock end
    where s.ended_at is null;
    return swept + gone;
end $$;

-- ---- retention ----

-- The bases of the newest segment of a topic that was opened so long ago: what lies before it is older.
create function trunkline.bases_at(a_topic int, at timestamptz) returns bigint[]
    language sql stable
as $$
    select s.bases from trunkline.segment s where s.topic = a_topic and s.opened_at <= at order by s.id desc limit 1
$$;

-- Before when a segment must have been followed by the next for it to go: once every group that counts has done it; whoever needs it.
create function trunkline.cut_offs(t trunkline.topic, clock timestamptz, out keep timestamptz, out cap timestamptz)
    language sql stable
as $$
    select clock - case
               when t.semantics = 'QUEUE' or exists (select from trunkline.subscription s where s.topic = t.id and s.status <> 'CANCELLED') then t.retention
               else least(t.retention, t.unheard_retention) end,
           clock - greatest(t.hard_cap, t.retention)
$$;

-- The first offsets to keep of a topic: by its retention, not beyond what every group that counts has done; but what is older than the
-- hard cap goes.
create function trunkline.watermark(a_topic int, clock timestamptz default clock_timestamp()) returns bigint[]
    language sql stable security definer
    set search_path = pg_catalog, pg_temp
as $$
    select array_agg(greatest(w.cap[k.n], least(w.keep[k.n], d.cursor)) order by k.n)
    from (
        select t.partitions, t.levels, trunkline.bases_at(t.id, c.keep) as keep, trunkline.bases_at(t.id, c.cap) as cap
        from trunkline.topic t cross join lateral trunkline.cut_offs(t, clock) c where t.id = a_topic) w
    cross join lateral generate_series(1, w.partitions * w.levels) as k (n)
    left join (
        select c.strand, min(c.cursor) as cursor
        from trunkline.subscription s
        cross join lateral trunkline.cursors(s.id) c
        where s.topic = a_topic and s.status in ('ACTIVE', 'PAUSED') and s.released_at is null
        group by c.strand) d on d.strand = k.n - 1
    where w.keep is not null or w.cap is not null
$$;

-- Lets a group pass over what it has not done before some offsets: a gap is noted for it, and whoever owns the partition must read anew.
-- Returns how many messages that were.
create function trunkline.pass_over(a_subscription int, upto bigint[], a_reason text, a_partition int default null) returns bigint
    language plpgsql
as $$
declare
    missing int[]; its_partitions int;
    passed bigint;
begin
    select t.partitions into its_partitions from trunkline.subscription s join trunkline.topic t on t.id = s.topic where s.id = a_subscription;
    missing := array(
        select distinct d.strand % its_partitions
        from trunkline.done(a_subscription, array(
            select distinct c.strand % its_partitions from trunkline.cursors(a_subscription) c
            where c.cursor < upto[c.strand + 1] and c.strand % its_partitions = coalesce(a_partition, c.strand % its_partitions))) d
        where not d.done @> int8range(0, upto[d.strand + 1]));
    if cardinality(missing) = 0 then
        return 0;
    end if;
    perform from trunkline.holder h where h.subscription = a_subscription and h.partition = any (missing) order by h.partition for update;
    -- What was done of it is not to be taken for passed over.
    perform trunkline.trace_progress(1 - i.progress_slot, a_subscription), trunkline.trace_progress(i.progress_slot, a_subscription)
    from trunkline.installation i;
    with gaps as (
        insert into trunkline.gap (subscription, strand, "from", "to", reason)
        select a_subscription, d.strand, lower(r), upper(r), a_reason
        from trunkline.done(a_subscription, missing) d
        cross join lateral unnest(int8multirange(int8range(0, upto[d.strand + 1])) - d.done) r
        returning "to" - "from" as messages
    )
    select coalesce(sum(g.messages), 0) into passed from gaps g;
    -- Nobody tries them again, but what was parked before.
    delete from trunkline.attempt a
    where a.subscription = a_subscription and a.strand % its_partitions = any (missing) and a."offset" < upto[a.strand + 1]
      and not exists (select from trunkline.parked p where p.subscription = a.subscription and p.strand = a.strand and p."offset" = a."offset");
    update trunkline.holder h
    set base = array(
            select b.done + int8multirange(int8range(0, upto[h.partition + its_partitions * (b.level - 1)::int + 1]))
            from unnest(h.base) with ordinality as b (done, level) order by b.level),
        epoch = h.epoch + (h.session is not null)::int, session = trunkline.nobody_after(h.session)
    where h.subscription = a_subscription and h.partition = any (missing);
    return passed;
end $$;

-- Segments that upkeep has dropped within the last day.
create table trunkline.dropped_segment (
    topic     int not null,
    at        timestamptz not null,
    messages  bigint not null,
    bytes     bigint not null
);

-- The bases behind the oldest segment of a topic, if all of it may go; else null.
create function trunkline.droppable(a_topic int, clock timestamptz) returns bigint[]
    language sql stable
as $$
    select n.bases
    from (select trunkline.watermark(a_topic, clock) as keep) w
    cross join lateral (select s.bases from trunkline.segment s where s.topic = a_topic order by s.id offset 1 limit 1) n
    where w.keep is not null and not exists (select from generate_subscripts(n.bases, 1) p where w.keep[p] < n.bases[p])
$$;

-- Drops the oldest segment of a topic if all of it may go; what a group has not done of it becomes a gap of that group.
create function trunkline.trim(a_topic int, clock timestamptz default clock_timestamp()) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set jit = off set lock_timeout = '500ms'
as $$
declare
    upto bigint[];
begin
    if trunkline.droppable(a_topic, clock) is null then
        return null;
    end if;
    -- Who subscribes locks the topic too: a group that begins now is seen by the next statement, or begins after the drop.
    perform from trunkline.topic t where t.id = a_topic for update;
    upto := trunkline.droppable(a_topic, clock);
    if upto is null then
        return null;
    end if;
    perform trunkline.pass_over(s.id, upto, 'RETENTION') from trunkline.subscription s
    where s.topic = a_topic and s.status <> 'CANCELLED' and exists (select from trunkline.holder h where h.subscription = s.id) order by s.id;
    delete from trunkline.trail r using trunkline.subscription s
    where s.topic = a_topic and r.subscription = s.id and upper(r.offsets) <= upto[r.strand + 1];
    insert into trunkline.dropped_segment (topic, at, messages, bytes)
    select a_topic, clock, (select sum(upto[n] - s.bases[n]) from generate_subscripts(s.bases, 1) n), pg_total_relation_size(format('trunkline.segment_%s', s.id)::regclass)
    from trunkline.segment s where s.topic = a_topic order by s.id limit 1;
    return trunkline.drop_segment(a_topic, upto);
end $$;
