-- What a group that is pulled from holds, and what it would be given: grants, the state of a strand, and the choice of messages. A popped batch is
-- an owner: pop appends a grant at the next epoch under the lock of the holder, which is never updated. There is one open batch per partition
-- and group, of one strand. Progress, attempts, parked messages and dead letters are those of groups with handlers.

-- How often a group that is pulled from tries a message, and whether one that it gives up stops its key.
alter table trunkline.subscription
    add column attempts int check (attempts between 1 and 1000),
    add column stop_key boolean;

-- The last grant of each partition that is no longer in a slot.
create table trunkline.grant_base (
    subscription  int not null,
    partition     int not null,
    epoch         bigint not null,
    sequence      bigint not null,
    token         uuid not null,
    strand        int not null,
    -- What was given out and is not settled; where nothing is left, the batch is closed.
    given         int8multirange not null,
    granted_at    timestamptz not null,
    expires_at    timestamptz not null,
    primary key (subscription, partition)
);

-- Grants, and what became of them: a row per pop, ack, nack, release, reject and extend. The last one of a partition counts. Their slots take turns
-- together with those of progress.
do $$
begin
    for slot in 0 .. 1 loop
        execute format($ddl$
            create table trunkline.grant_%1$s (like trunkline.grant_base, primary key (subscription, partition, epoch, sequence))
                with (autovacuum_enabled = off);
        $ddl$, slot);
    end loop;
end $$;

create index dead_letter_stop on trunkline.dead_letter (subscription, strand, key) where stops_key;

create view trunkline.grants as
    select * from trunkline.grant_base
    union all
    select * from trunkline.grant_0
    union all
    select * from trunkline.grant_1;

-- A message on its way to whoever pulls. headers hold names and values in turn; jsonb_object makes an object of them.
create type trunkline.popped as (
    token text, partition int, priority int, "offset" bigint, message_id bigint, unit bigint, unit_end boolean, key text, headers text[],
    correlation_id text, content_type text, payload bytea, published_at timestamptz, appended_at timestamptz, attempt int, epoch bigint,
    expires_at timestamptz);

-- The same as frames: those of the log as they lie there, and messages that are given singly as frames of one.
create type trunkline.popped_frame as (
    token text, epoch bigint, expires_at timestamptz, partition int, priority int, attempt int,
    -- The offsets that are given of it. Null: all.
    offsets bigint[], frame trunkline.segment_shape);

-- How many messages of a strand that wait a pop passes over at most; how many are parked at most; how many bytes a batch has at most.
create function trunkline.pull_window() returns int language sql immutable parallel safe return 1000;
create function trunkline.parked_limit() returns int language sql immutable parallel safe return 10000;
create function trunkline.batch_bytes() returns bigint language sql immutable parallel safe return 16777216;

-- How often a pop of a group that wants some keys only goes on with what it does not want.
create function trunkline.pull_rounds() returns int language sql immutable parallel safe return 100;

create function trunkline.offsets_of(a_ranges int8multirange) returns setof bigint
    language sql immutable parallel safe
as $$
    select o from unnest(a_ranges) r cross join lateral generate_series(lower(r), upper(r) - 1) o
$$;

-- The first so many offsets.
create function trunkline.first_of(a_ranges int8multirange, a_most bigint) returns int8multirange
    language plpgsql immutable parallel safe
as $$
begin
    if upper(a_ranges) - lower(a_ranges) <= a_most then
        return a_ranges;
    end if;
    return (
        select coalesce(range_agg(int8range(lower(x.r), least(upper(x.r), lower(x.r) + a_most - x.before))), '{}')
        from (
            select r, coalesce(sum(upper(r) - lower(r)) over (order by r rows between unbounded preceding and 1 preceding), 0)::bigint as before
            from unnest(a_ranges) r) x
        where x.before < a_most);
end $$;

-- The frames of a strand that hold some of these offsets, in order.
create function trunkline.frames(a_topic int, a_strand int, a_offsets int8multirange) returns setof trunkline.segment_shape
    language plpgsql stable
as $$
declare
    lows bigint[]; highs bigint[];
    g int;
begin
    select array_agg(lower(r) order by r), array_agg(upper(r) order by r) into lows, highs from unnest(a_offsets) r;
    for g in
        select s.id
        from trunkline.segment s
        where s.topic = a_topic and s.bases[a_strand + 1] < upper(a_offsets)
          and s.id >= coalesce((
              select k.id from trunkline.segment k
              where k.topic = a_topic and k.bases[a_strand + 1] <= lower(a_offsets) order by k.id desc limit 1), 0)
        order by s.id
    loop
        -- A frame that reaches into several ranges is found with the first of them.
        return query
            execute format($q$
                select s.*
                from unnest($2, $3, array[0::bigint] || $3) r (low, high, past)
                cross join lateral (
                    select k.* from trunkline.segment_%s k
                    where k.partition = $1 and k.last_offset >= r.low and k.last_offset < r.high + 100
                      and k.last_offset - cardinality(k.ids) between r.past - 1 and r.high - 2
                    order by k.last_offset limit (select r.high - r.low)) s
                where r.low is not null $q$, g)
            using a_strand, lows, highs;
    end loop;
end $$;

-- The messages of a frame. Who does not use the payload does not pay for it.
create function trunkline.messages_of(f trunkline.segment_shape)
    returns table ("offset" bigint, id bigint, unit bigint, unit_end boolean, published_at timestamptz, appended_at timestamptz, key text,
                   correlation_id text, content_type text, headers text[], length int, payload bytea)
    language sql stable
as $$
    select m."offset", f.base_id + m.id, f.base_id + coalesce(m.unit, m.id),
           case when m.i = cardinality(f.ids) then not f.unit_open else m.unit is null or m.unit <> m.next_unit end,
           f.appended_at - coalesce(m.wait, 0) * interval '1 microsecond', f.appended_at, m.key, m.correlation_id,
           coalesce(m.content_type, f.content_types[1]), m.headers::text[], m.length,
           substring(f.payloads from (m.upto - m.length + 1)::int for m.length)
    from (
        select u.*, f.last_offset - cardinality(f.ids) + u.i as "offset", lead(u.unit) over w as next_unit, sum(u.length) over w as upto
        from unnest(f.ids, f.units, f.waits, f.lengths, f.keys, f.correlation_ids, f.content_types, f.headers)
            with ordinality as u (id, unit, wait, length, key, correlation_id, content_type, headers, i)
        window w as (order by u.i)) m
$$;

-- Messages of a strand at these offsets, as they lie in the log.
create function trunkline.strand_messages(a_topic int, a_strand int, a_offsets int8multirange)
    returns table ("offset" bigint, id bigint, unit bigint, unit_end boolean, published_at timestamptz, appended_at timestamptz, key text,
                   correlation_id text, content_type text, headers text[], length int, payload bytea)
    language sql stable
as $$
    select m.*
    from trunkline.frames(a_topic, a_strand, a_offsets) f
    cross join lateral trunkline.messages_of(f) m
    where a_offsets @> m."offset"
$$;

-- As strand_messages, for offsets some of which may be parked.
create function trunkline.given_messages(a_subscription int, a_topic int, a_strand int, a_offsets int8multirange)
    returns table ("offset" bigint, id bigint, unit bigint, unit_end boolean, published_at timestamptz, appended_at timestamptz, key text,
                   correlation_id text, content_type text, headers text[], length int, payload bytea)
    language sql stable
as $$
    select p."offset", p.message_id, p.unit, p.unit_end, p.published_at, p.appended_at, p.key, p.correlation_id, p.content_type, p.headers,
           octet_length(p.payload), p.payload
    from (
        select k.* from trunkline.parked k
        where k.subscription = a_subscription and k.strand = a_strand and k."offset" >= lower(a_offsets) and k."offset" < upper(a_offsets)
          and a_offsets @> k."offset"
        order by k."offset" offset 0) p
    union all
    select m.*
    from (
        select a_offsets - coalesce(range_agg(int8range(p."offset", p."offset" + 1)), '{}') as offsets
        from (
            select k."offset" from trunkline.parked k
            where k.subscription = a_subscription and k.strand = a_strand and k."offset" >= lower(a_offsets) and k."offset" < upper(a_offsets)
            order by k."offset" offset 0) p) l
    cross join lateral trunkline.strand_messages(a_topic, a_strand, l.offsets) m
$$;

-- Messages, parked or not, as columns; of each key only the first, if wanted.
create function trunkline.letters_of(a_subscription int, a_topic int, a_strand int, a_offsets int8multirange, a_firsts boolean)
    returns trunkline.letters
    language plpgsql stable
as $$
declare
    letters trunkline.letters;
begin
    select array_agg(m."offset"), array_agg(m.id), array_agg(m.unit), array_agg(m.unit_end), array_agg(m.published_at), array_agg(m.appended_at),
           array_agg(m.key), array_agg(m.correlation_id), array_agg(m.content_type), array_agg(m.headers::text), array_agg(m.payload)
    into letters
    from (
        select k.*, row_number() over (partition by k.key order by k."offset") as n
        from trunkline.given_messages(a_subscription, a_topic, a_strand, a_offsets) k) m
    where not a_firsts or m.key is null or m.n = 1;
    return letters;
end $$;

-- Whether a dead letter stops a key.
create function trunkline.is_stopped(a_subscription int, a_strand int, a_key text) returns boolean
    language plpgsql stable
as $$
begin
    return exists (
        select from trunkline.dead_letter d where d.subscription = a_subscription and d.strand = a_strand and d.key = a_key and d.stops_key);
end $$;

create function trunkline.last_grant(a_subscription int, a_partition int) returns setof trunkline.grants
    language sql stable rows 1
as $$
    select g.* from trunkline.grants g
    where g.subscription = a_subscription and g.partition = a_partition
    order by g.epoch desc, g.sequence desc limit 1
$$;

-- What is done of a strand, and what is not, below its end; with the epoch of its holder. Each record of progress of a group that is pulled
-- from holds all that came before it.
create function trunkline.state_of(a_subscription int, a_partition int, a_level int, a_strand int, a_end bigint)
    returns table (epoch bigint, done int8multirange, undone int8multirange)
    language sql stable rows 1
as $$
    select d.epoch, d.done, int8multirange(int8range(0, a_end)) - d.done
    from (
        select h.epoch, h.base[a_level + 1] + coalesce((
                select p.done from trunkline.progress p
                where p.subscription = a_subscription and p.strand = a_strand and p.epoch >= h.counts_from
                order by p.epoch desc, p.sequence desc limit 1), '{}') as done
        from trunkline.holder h
        where h.subscription = a_subscription and h.partition = a_partition offset 0) d
$$;

-- What a pop would give of a strand, and what it would park: messages of blocked keys, and, where too many wait, those that wait for an
-- earlier one of their key. A message before its last try is given alone: if that lease runs out too, no other message is given up with
-- it. Plain: nothing was tried before, is blocked or parked, and nobody has counted bytes.
create function trunkline.choose(
    s trunkline.subscription, t trunkline.topic, a_strand int, a_undone int8multirange, a_max int,
    out give int8multirange, out park int8multirange, out plain boolean)
    language plpgsql stable
as $$
declare
    id int := s.id;
    most_attempts int := s.attempts;
    ordered boolean := t.ordering = 'ORDERED';
    clock timestamptz := clock_timestamp();
    parked_is_full boolean;
    passed int; beyond int; size int;
    ahead int8multirange;
begin
    give := '{}';
    park := '{}';
    plain := not exists (select from trunkline.parked p where p.subscription = id and p.strand = a_strand)
        and not exists (select from trunkline.blocked b where b.subscription = id and b.strand = a_strand)
        and not exists (select from trunkline.attempt a where a.subscription = id and a.strand = a_strand);
    if plain then
        give := trunkline.first_of(a_undone, a_max);
        return;
    end if;
    parked_is_full := trunkline.parked_limit() = (
        select count(*) from (
            select from trunkline.parked p where p.subscription = id and p.strand = a_strand limit trunkline.parked_limit()) p);
    -- First what was passed over before, and a little more; if that is not enough, all that may be passed over.
    select sum(upper(r) - lower(r)) - max(upper(r) - lower(r)) filter (where upper(r) = upper(a_undone)) + trunkline.pull_window() / 10
    into passed from unnest(a_undone) r;
    foreach beyond in array array[least(passed, trunkline.pull_window()), trunkline.pull_window()] loop
        ahead := trunkline.first_of(a_undone, a_max + beyond);
        with head as (
            select m."offset", m.key, m.length, false as parked
            from trunkline.strand_messages(t.id, a_strand, ahead) m
            union all
            -- The lines of keys whose first message may be tried now.
            (select p.*, true
            from trunkline.blocked b
            cross join lateral (
                select k."offset" from trunkline.parked k
                where k.subscription = id and k.strand = a_strand and k.key = b.key order by k."offset" limit 1) f
            left join lateral (
                select k.due_at from trunkline.attempt k
                where k.subscription = id and k.strand = a_strand and k."offset" = f."offset" offset 0) a on true
            cross join lateral (
                select k."offset", k.key, octet_length(k.payload) from trunkline.parked k
                where k.subscription = id and k.strand = a_strand and k.key = b.key order by k."offset" limit a_max) p
            where ordered and b.subscription = id and b.strand = a_strand and coalesce(a.due_at <= clock, true)
              and not trunkline.is_stopped(id, a_strand, b.key)
            limit a_max)
            union all
            (select p."offset", p.key, octet_length(p.payload), true
            from trunkline.parked p
            where p.subscription = id and p.strand = a_strand and (p.key is null or not ordered)
            order by p."offset" limit a_max + beyond)
        ), known as (
            select h.*, coalesce(a.attempts, 0) as attempts, coalesce(a.due_at > clock, false) as early,
                   ordered and not h.parked and exists (
                       select from trunkline.blocked b where b.subscription = id and b.strand = a_strand and b.key = h.key offset 0) as blocked
            from head h
            left join lateral (
                select k.attempts, k.due_at from trunkline.attempt k
                where k.subscription = id and k.strand = a_strand and k."offset" = h."offset" offset 0) a on true
        ), judged as materialized (
            -- A message that is not yet parked although its line has begun holds up the line.
            select k.*, bool_or(k.early or k.blocked) over (
                       partition by case when ordered then k.key end, case when k.key is null or not ordered then k."offset" end
                       order by k."offset") as waits
            from known k
        ), aside as materialized (
            select j."offset", sum(j.length) over (order by j."offset") - j.length as before
            from judged j
            where j.blocked
               or ordered and j.waits and not j.parked and j.key is not null and trunkline.pull_window() / 10 <= (
                   select count(*) from judged k where k.waits and not k.blocked and not k.parked and k.key is not null)
        ), fit as (
            select j."offset", j.attempts > 0 and j.attempts >= most_attempts - 1 as last_try, row_number() over w as n,
                   sum(j.length) over w - j.length as before
            from judged j
            where not j.waits
              and (j.parked or not parked_is_full or j."offset" < coalesce((select min(a."offset") from aside a), j."offset" + 1))
            window w as (order by j."offset")
        )
        select coalesce((
                   select range_agg(int8range(f."offset", f."offset" + 1))
                   from fit f, (select min(k.n) as n from fit k where k.last_try) l
                   where f.n = 1 or f.n <= a_max and f.before < trunkline.batch_bytes() and (l.n is null or l.n > f.n)), '{}'),
               coalesce((
                   select range_agg(int8range(a."offset", a."offset" + 1))
                   from aside a
                   where not parked_is_full and (a.before = 0 or a.before < trunkline.batch_bytes())), '{}'),
               (select count(*) from fit f)
        into give, park, size;
        exit when size >= a_max or ahead = a_undone;
    end loop;
    -- What lies beyond is left for later, so that little but the end is undone.
    park := park * int8multirange(int8range(0, upper(give)));
end $$;

create function trunkline.append_done(a_subscription int, a_strand int, a_epoch bigint, a_sequence bigint, a_done int8multirange,
    a_rejected int8multirange default null) returns void
    language plpgsql
as $$
begin
    if (select i.progress_slot from trunkline.installation i) = 0 then
        insert into trunkline.progress_0 (subscription, strand, epoch, sequence, done, rejected)
        values (a_subscription, a_strand, a_epoch, a_sequence, a_done, a_rejected);
    else
        insert into trunkline.progress_1 (subscription, strand, epoch, sequence, done, rejected)
        values (a_subscription, a_strand, a_epoch, a_sequence, a_done, a_rejected);
    end if;
end $$;

create function trunkline.append_grant(g trunkline.grants) returns void
    language plpgsql
as $$
begin
    if (select i.progress_slot from trunkline.installation i) = 0 then
        insert into trunkline.grant_0 select g.*;
    else
        insert into trunkline.grant_1 select g.*;
    end if;
end $$;

-- Keeps the last grants of a slot. Returns how many were not kept yet.
create function trunkline.fold_grants(slot int) returns bigint
    language plpgsql
as $$
declare
    folded bigint;
begin
    execute format($q$
        insert into trunkline.grant_base as b
        select distinct on (g.subscription, g.partition) g.*
        from trunkline.grant_%s g
        order by g.subscription, g.partition, g.epoch desc, g.sequence desc
        on conflict (subscription, partition) do update
        set (epoch, sequence, token, strand, given, granted_at, expires_at) =
            (excluded.epoch, excluded.sequence, excluded.token, excluded.strand, excluded.given, excluded.granted_at, excluded.expires_at)
        where (excluded.epoch, excluded.sequence) > (b.epoch, b.sequence) $q$, slot);
    get diagnostics folded = row_count;
    return folded;
end $$;
