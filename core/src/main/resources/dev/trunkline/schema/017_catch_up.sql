-- Catching up: what lay in the log when a group began, or came back from the dead, is its history. The cursor is its checkpoint.

-- Of what lies between some offsets, the last so many messages, of each strand its share: where they begin.
create function trunkline.last_of(a_froms bigint[], a_tos bigint[], a_most bigint) returns bigint[]
    language sql immutable
as $$
    -- The shares are cut from one line, so that they add up.
    select array_agg(case when k.total <= a_most then k.f else k.t - (floor(k.upto * a_most / k.total) - floor((k.upto - k.t + k.f) * a_most / k.total))::bigint end
                     order by k.n)
    from (
        select f, t, n, sum((t - f)::numeric) over () as total, sum((t - f)::numeric) over (order by n) as upto
        from unnest(a_froms, a_tos) with ordinality as i (f, t, n)) k
$$;

-- Notes what is history for a group: all that it has not done. With a bound, all but its last part is passed over.
create function trunkline.begin_catch_up(s trunkline.subscription, t trunkline.topic, a_bound bigint) returns void
    language plpgsql
as $$
declare
    ends bigint[] := (trunkline.bounds(t.id)).ends;
    cursors bigint[];
begin
    -- First the topic, then the group, then its holders in order: as everybody does. The caller has locked the topic.
    perform from trunkline.subscription k where k.id = s.id for update;
    perform from trunkline.holder h where h.subscription = s.id order by h.partition for update;
    select array_agg(least(trunkline.cursor_of(d.done), ends[d.strand + 1]) order by d.strand) into cursors
    from trunkline.done(s.id, array(select generate_series(0, t.partitions - 1))) d;
    if a_bound is not null then
        cursors := trunkline.last_of(cursors, ends, a_bound);
        perform trunkline.pass_over(s.id, cursors, 'BOUND');
    end if;
    update trunkline.holder h
    set history_from = array(select cursors[h.partition + t.partitions * l + 1] from generate_series(0, t.levels - 1) l order by l),
        history_to = array(select ends[h.partition + t.partitions * l + 1] from generate_series(0, t.levels - 1) l order by l)
    where h.subscription = s.id;
    update trunkline.subscription k set catch_up_since = clock_timestamp(), catch_up_from = 0, catch_up_cancelled = false where k.id = s.id;
end $$;

create function trunkline.check_bound(a_bound bigint) returns void
    language plpgsql
as $$
begin
    if a_bound < 1 then
        perform trunkline.refuse(format('a bound of %s messages is too small', a_bound), 'TL008', 'Use 1 or more, or none.');
    end if;
end $$;

-- How far a group is with its history. state: RUNNING, CANCELLED, DONE. The rate is that since it began or was resumed.
create view trunkline.catch_ups as
    select s.id, s.group_name, t.name as topic, case when p.done >= p.total then 'DONE' when s.catch_up_cancelled then 'CANCELLED' else 'RUNNING' end as state,
           p.total, p.done, r.rate as messages_per_second,
           case when p.done < p.total and not s.catch_up_cancelled and r.rate > 0 then (p.total - p.done) / r.rate * interval '1 second' end as eta,
           s.catch_up_since as since
    from trunkline.subscription s
    join trunkline.topic t on t.id = s.topic
    cross join lateral (
        select coalesce(sum(x.upto - x.since), 0)::bigint as total,
               coalesce(sum((select sum(upper(r) - lower(r)) from unnest(d.done * int8multirange(int8range(x.since, x.upto))) r)), 0)::bigint as done
        from trunkline.done(s.id, array(select generate_series(0, t.partitions - 1))) d
        join trunkline.holder h on h.subscription = s.id and h.partition = d.strand % t.partitions and h.history_to is not null
        cross join lateral (
            select h.history_from[d.strand / t.partitions + 1] as since, h.history_to[d.strand / t.partitions + 1] as upto) x) p
    cross join lateral (
        select round((p.done - s.catch_up_from) / nullif(extract(epoch from clock_timestamp() - s.catch_up_since), 0)::numeric, 1) as rate) r
    where s.status <> 'CANCELLED' and s.catch_up_since is not null;

-- Stops a group in its history, where it stays; partitions that are through with theirs go on. Or lets it go on.
create function trunkline.hold_catch_up(a_group text, a_topic text, hold boolean) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    s trunkline.subscription := trunkline.group_of(a_group, a_topic);
    c record;
begin
    if s.mode = 'PULL' then
        perform trunkline.refuse(format('group "%s" of topic "%s" is pulled from', a_group, a_topic), 'TL008', 'Who pulls sets the pace; or pause the group.');
    end if;
    perform from trunkline.subscription k where k.id = s.id for update;
    select k.state, k.done into c from trunkline.catch_ups k where k.id = s.id;
    if c.state is distinct from (case when hold then 'RUNNING' else 'CANCELLED' end) then
        perform trunkline.refuse(format('group "%s" of topic "%s" %s', a_group, a_topic, case c.state
                when 'RUNNING' then 'is catching up: there is nothing to resume'
                when 'CANCELLED' then 'has been stopped catching up already'
                when 'DONE' then 'has caught up with its history'
                else 'has no history to catch up with' end), 'TL008', 'Look at trunkline.catch_ups.');
    end if;
    update trunkline.subscription k
    set catch_up_cancelled = hold, catch_up_since = clock_timestamp(), catch_up_from = c.done
    where k.id = s.id;
    insert into trunkline.group_event (subscription, what, detail)
    values (s.id, case when hold then 'catch-up cancelled' else 'catch-up resumed' end, c.done || ' messages were done');
end $$;

-- Lets a group pass over the rest of its history: a gap is noted. Returns how many messages that were.
create function trunkline.skip_catch_up(a_group text, a_topic text) returns bigint
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    s trunkline.subscription := trunkline.group_of(a_group, a_topic);
    ends bigint[];
    passed bigint;
begin
    if s.status = 'CANCELLED' then
        perform trunkline.refuse(format('group "%s" of topic "%s" is cancelled', a_group, a_topic), 'TL008', 'It has nothing left to do.');
    end if;
    perform from trunkline.topic t where t.id = s.topic for share;
    select array_agg(x.upto order by x.level, h.partition) into ends
    from trunkline.holder h cross join lateral unnest(h.history_to) with ordinality as x (upto, level)
    where h.subscription = s.id;
    if ends is null then
        perform trunkline.refuse(format('group "%s" of topic "%s" has no history to catch up with', a_group, a_topic), 'TL008', 'Look at trunkline.catch_ups.');
    end if;
    passed := trunkline.pass_over(s.id, ends, 'FORCED');
    insert into trunkline.group_event (subscription, what, detail) values (s.id, 'catch-up skipped', passed || ' messages');
    return passed;
end $$;
