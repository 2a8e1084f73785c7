-- Completion tracking: how much is remembered of who has handled what. In mode OFFSET_WATERMARK, how far each group is, and what it could not
-- do. In mode REFERENCE_COUNTING also when each message was recorded as done, by which session and at which epoch, until the message is dropped.

-- What was done of a strand within a minute, as far as it was not done before. Written when progress is folded, and where a message that
-- was laid aside is over: nothing for each message and group.
create table trunkline.trail (
    subscription  int not null,
    strand        int not null,
    epoch         bigint not null,
    -- Null: somebody who pulls.
    session       bigint,
    outcome       text not null check (outcome in ('DONE', 'REJECTED', 'DISCARDED')),
    offsets       int8multirange not null,
    recorded_at   timestamptz not null default clock_timestamp()
);
create index on trunkline.trail (subscription, strand, recorded_at);

-- Adds what a slot of progress says to the trails of groups that leave one, or of one of them, before the bases of their holders are
-- changed. Who calls it has locked those.
create function trunkline.trace_progress(slot int, a_subscription int default null) returns void
    language plpgsql
as $$
begin
    execute format($q$
        with minutes as (
            select p.subscription, p.strand, date_trunc('minute', p.recorded_at) as minute, max(p.epoch) as epoch, p.session, max(p.recorded_at) as recorded_at,
                   range_agg(p.done) as done, coalesce(range_agg(p.rejected), '{}') as rejected, h.base[p.strand / t.partitions + 1] as base,
                   h.counts_from
            from trunkline.progress_%s p
            join trunkline.subscription s on s.id = p.subscription
            join trunkline.topic t on t.id = s.topic and t.tracking = 'REFERENCE_COUNTING'
            join trunkline.holder h on h.subscription = p.subscription and h.partition = p.strand %% t.partitions and p.epoch >= h.counts_from
            where $1 is null or p.subscription = $1
            -- Each pop has an epoch of its own: of those the last within a minute counts, else there would be a line for each.
            group by p.subscription, p.strand, minute, case when p.session is not null then p.epoch end, p.session, h.base, h.counts_from, t.partitions
        ), steps as (
            select m.*, m.done - m.base - coalesce(
                       range_agg(m.done) over (
                           partition by m.subscription, m.strand order by m.recorded_at, m.epoch rows between unbounded preceding and 1 preceding), '{}') as news
            from minutes m
        ), fresh as (
            -- What was laid aside in the meantime and is over has been traced, with what became of it.
            select s.*, s.news - coalesce((
                       select range_agg(r.offsets) from trunkline.trail r
                       where r.subscription = s.subscription and r.strand = s.strand and r.recorded_at >= s.minute and r.epoch >= s.counts_from), '{}') as fresh
            from steps s
            where not isempty(s.news)
        )
        insert into trunkline.trail (subscription, strand, epoch, session, outcome, offsets, recorded_at)
        select s.subscription, s.strand, s.epoch, s.session, o.outcome, o.offsets, s.recorded_at
        from fresh s
        cross join lateral (values ('DONE', s.fresh - s.rejected), ('REJECTED', s.fresh * s.rejected)) o (outcome, offsets)
        where not isempty(o.offsets) $q$, slot) using a_subscription;
end $$;

-- Notes that messages are over which count as done in the log since they were laid aside.
create function trunkline.trace(
    a_subscription int, a_strand int, a_offsets int8multirange, a_outcome text, a_epoch bigint, a_session bigint) returns void
    language sql
as $$
    insert into trunkline.trail (subscription, strand, epoch, session, outcome, offsets)
    select a_subscription, a_strand, a_epoch, a_session, a_outcome, a_offsets
    from trunkline.subscription s join trunkline.topic t on t.id = s.topic
    where s.id = a_subscription and t.tracking = 'REFERENCE_COUNTING' and not isempty(a_offsets)
$$;

-- What became of a message, for each group of its topic. outcome: DONE; REJECTED (by the group's filter, or it does not want the key);
-- DEAD_LETTER, and DISCARDED; PARKED; GAP (it was not given the message); BEFORE_START (the group began after it); NOT_YET. When and by whom is known
-- of what is recent, and of what was done while the topic was tracked by reference counting.
create function trunkline.audit(a_topic text, a_id bigint)
    returns table (group_name text, outcome text, missing boolean, recorded_at timestamptz, session text, epoch bigint)
    language plpgsql stable security definer
    set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
    t trunkline.topic;
    m record;
begin
    select k.* into t from trunkline.topic k where k.name = a_topic;
    if t.id is null then
        perform trunkline.refuse(format('there is no topic "%s"', a_topic), 'TL001', 'Look at trunkline.topic for the names.');
    end if;
    m := trunkline.find_message(t.id, a_id);
    if m.strand is null then
        perform trunkline.refuse(format('message %s is not in the log of topic "%s"', a_id, a_topic), 'TL008',
            'It was dropped, has yet to be relayed, or is of another topic.');
    end if;
    return query
        select s.group_name, x.outcome, x.outcome in ('NOT_YET', 'PARKED', 'DEAD_LETTER'),
               case x.outcome when 'DEAD_LETTER' then l.buried_at when 'PARKED' then a.parked_at when 'GAP' then g.at else w.recorded_at end,
               case when x.outcome in ('DONE', 'REJECTED', 'DISCARDED') then coalesce(k.name, w.session::text) end,
               case when x.outcome in ('DONE', 'REJECTED', 'DISCARDED') then w.epoch end
        from trunkline.subscription s
        join trunkline.holder h on h.subscription = s.id and h.partition = m.strand % t.partitions
        join lateral trunkline.done(s.id, array[h.partition]) d on d.strand = m.strand
        left join trunkline.dead_letter l on l.subscription = s.id and l.strand = m.strand and l."offset" = m."offset"
        left join trunkline.parked a on a.subscription = s.id and a.strand = m.strand and a."offset" = m."offset"
        left join lateral (
            select k.at from trunkline.gap k
            where k.subscription = s.id and k.strand = m.strand and m."offset" >= k."from" and m."offset" < k."to"
            order by k.at desc limit 1) g on true
        left join lateral (
            -- The trail, of what was handled again the last time; else the first of the records that are not folded yet.
            (select r.outcome, r.recorded_at, r.session, r.epoch
             from trunkline.trail r
             where r.subscription = s.id and r.strand = m.strand and r.offsets @> m."offset" and r.epoch >= h.counts_from
             order by r.recorded_at desc limit 1)
            union all
            (select case when exists (
                        select from trunkline.progress r where r.subscription = s.id and r.strand = m.strand and r.rejected @> m."offset")
                    then 'REJECTED' else 'DONE' end, p.recorded_at, p.session, p.epoch
             from trunkline.progress p
             where p.subscription = s.id and p.strand = m.strand and p.done @> m."offset" and p.epoch >= h.counts_from
               and m."offset" >= h.starts[m.strand / t.partitions + 1]
             order by p.recorded_at limit 1)
            limit 1) w on true
        left join trunkline.session k on k.id = w.session
        cross join lateral (
            select case
                when l.id is not null then 'DEAD_LETTER'
                when a.parked_at is not null then 'PARKED'
                when g.at is not null then 'GAP'
                when not d.done @> m."offset" then 'NOT_YET'
                when w.outcome is not null then w.outcome
                when m."offset" < h.starts[m.strand / t.partitions + 1] then 'BEFORE_START'
                else 'DONE' end as outcome) x
        where s.topic = t.id and s.status <> 'CANCELLED'
        order by s.group_name;
end $$;
