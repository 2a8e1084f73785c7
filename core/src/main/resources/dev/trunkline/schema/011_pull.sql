-- Pull: for callers that can not keep a handler running. A popped batch is an owner: pop appends a grant at the next epoch under the lock
-- of the holder, which is never updated; ack, nack, reject and extend work from anywhere, under the same lock, as long as nobody else
-- has popped the partition. There is one open batch per partition and group, of one strand. Progress, attempts, parked messages and
-- dead letters are those of groups with handlers.

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

-- Grants, and what became of them: a row per pop, ack, nack, reject and extend. The last one of a partition counts. Their slots take turns
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

-- How many messages of a strand that wait a pop passes over at most; how many are parked at most; how many bytes a batch has at most.
create function trunkline.pull_window() returns int language sql immutable parallel safe return 1000;
create function trunkline.parked_limit() returns int language sql immutable parallel safe return 10000;
create function trunkline.batch_bytes() returns bigint language sql immutable parallel safe return 16777216;

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

-- The frames of a strand that hold some of these offsets, in order, until they have so many bytes.
create function trunkline.frames(a_topic int, a_strand int, a_offsets int8multirange, a_bytes bigint) returns setof trunkline.segment_shape
    language plpgsql stable
as $$
declare
    lows bigint[]; highs bigint[];
    g int;
    f trunkline.segment_shape;
    bytes bigint := 0;
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
        for f in
            execute format($q$
                select s.*
                from unnest($2, $3, array[0::bigint] || $3) r (low, high, past)
                cross join lateral (
                    select k.* from trunkline.segment_%s k
                    where k.partition = $1 and k.last_offset >= r.low and k.last_offset < r.high + 100
                      and k.last_offset - cardinality(k.ids) between r.past - 1 and r.high - 2
                    order by k.last_offset) s
                where r.low is not null $q$, g)
            using a_strand, lows, highs
        loop
            return next f;
            bytes := bytes + octet_length(f.payloads);
            if bytes >= a_bytes then
                return;
            end if;
        end loop;
    end loop;
end $$;

-- Messages of a strand at these offsets, as they lie in the log. Who does not use the payload does not pay for it.
create function trunkline.strand_messages(a_topic int, a_strand int, a_offsets int8multirange, a_bytes bigint default null)
    returns table ("offset" bigint, id bigint, unit bigint, unit_end boolean, published_at timestamptz, appended_at timestamptz, key text,
                   correlation_id text, content_type text, headers text[], length int, payload bytea)
    language sql stable
as $$
    select m."offset", f.base_id + m.id, f.base_id + coalesce(m.unit, m.id),
           case when m.i = cardinality(f.ids) then not f.unit_open else m.unit is null or m.unit <> m.next_unit end,
           f.appended_at - coalesce(m.wait, 0) * interval '1 microsecond', f.appended_at, m.key, m.correlation_id,
           coalesce(m.content_type, f.content_types[1]), m.headers::text[], m.length,
           substring(f.payloads from (m.upto - m.length + 1)::int for m.length)
    from trunkline.frames(a_topic, a_strand, a_offsets, a_bytes) f
    cross join lateral (
        select u.*, f.last_offset - cardinality(f.ids) + u.i as "offset", lead(u.unit) over w as next_unit, sum(u.length) over w as upto
        from unnest(f.ids, f.units, f.waits, f.lengths, f.keys, f.correlation_ids, f.content_types, f.headers)
            with ordinality as u (id, unit, wait, length, key, correlation_id, content_type, headers, i)
        window w as (order by u.i)) m
    where a_offsets @> m."offset"
$$;

-- As strand_messages, for offsets some of which may be parked.
create function trunkline.given_messages(a_subscription int, a_topic int, a_strand int, a_offsets int8multirange, a_bytes bigint default null)
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
    cross join lateral trunkline.strand_messages(a_topic, a_strand, l.offsets, a_bytes) m
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

-- Makes a group that is pulled from, or finds it: its start and its settings are those of the first call.
create function trunkline.subscribe_pull(
    a_group text, a_topic text, a_start text default null, a_attempts int default 5, a_stop_key boolean default true,
    a_at timestamptz default null, a_number bigint default null, a_keys text[] default null, out subscription int, out created boolean)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    if a_attempts is null or a_attempts not between 1 and 1000 then
        perform trunkline.refuse(format('a message can not be tried %s times', a_attempts), 'TL008', 'Use 1 to 1000 attempts.');
    end if;
    select s.subscription, s.created into subscription, created from trunkline.subscribe(a_group, a_topic, a_start, 'PULL', a_at, a_number, null, a_keys) s;
    if created then
        update trunkline.subscription s set attempts = a_attempts, stop_key = coalesce(a_stop_key, true) where s.id = subscribe_pull.subscription;
    end if;
end $$;

-- Whether a call can be made in this transaction and with this lease.
create function trunkline.check_pull(a_lease interval default '1 day') returns void
    language plpgsql
as $$
begin
    -- What follows a lock must see what is committed then.
    if current_setting('transaction_isolation') <> 'read committed' then
        perform trunkline.refuse('pulling needs READ COMMITTED', 'TL008', 'Leave the isolation of the transaction as it is.');
    elsif a_lease is null or a_lease <= interval '0' or a_lease > interval '1 day' then
        perform trunkline.refuse(format('a lease of %s is not possible', coalesce(a_lease::text, 'null')), 'TL008',
            'Use more than zero and at most a day.');
    end if;
end $$;

create function trunkline.pull_group(a_group text, a_topic text) returns trunkline.subscription
    language plpgsql stable
as $$
declare
    s trunkline.subscription;
begin
    select k.* into s
    from trunkline.topic t join trunkline.subscription k on k.topic = t.id and k.group_name = a_group and k.status <> 'CANCELLED'
    where t.name = a_topic;
    if s.id is null and not exists (select from trunkline.topic t where t.name = a_topic) then
        perform trunkline.refuse(format('there is no topic "%s"', a_topic), 'TL001', 'Create it first.');
    elsif s.id is null then
        perform trunkline.refuse(format('there is no group "%s" of topic "%s", or it was cancelled', a_group, a_topic), 'TL008',
            'Make it with trunkline.subscribe_pull(...).');
    elsif s.status = 'DEAD' then
        perform trunkline.refuse(format('group "%s" of topic "%s" is dead', a_group, a_topic), 'TL008',
            'Resume it, or cancel it and make it anew.');
    elsif s.mode <> 'PULL' then
        perform trunkline.refuse(format('group "%s" of topic "%s" has handlers', a_group, a_topic), 'TL008', 'Pull with a group of its own.');
    end if;
    return s;
end $$;

-- Counts a failure for messages of a batch, or gives them up: those that were tried often enough, or all. Where a message that is given
-- up stops its key, what was behind it has not failed. Returns what is done in the strand after that, and what was over.
create function trunkline.fail(
    s trunkline.subscription, t trunkline.topic, a_strand int, a_failed int8multirange, a_error text, a_due_at timestamptz, a_reject boolean,
    inout a_done int8multirange, out a_over int8multirange)
    language plpgsql
as $$
declare
    again bigint[]; attempts int[]; most int;
    stop boolean := s.stop_key and t.ordering = 'ORDERED';
    letters trunkline.letters;
begin
    select array_agg(f."offset") filter (where not f.over), array_agg(f.attempts) filter (where not f.over),
           coalesce(range_agg(int8range(f."offset", f."offset" + 1)) filter (where f.over), '{}'), max(f.attempts) filter (where f.over)
    into again, attempts, a_over, most
    from (
        select o as "offset", coalesce(a.attempts, 0) + 1 as attempts, a_reject or coalesce(a.attempts, 0) + 1 >= s.attempts as over
        from trunkline.offsets_of(a_failed) o
        left join trunkline.attempt a on a.subscription = s.id and a.strand = a_strand and a."offset" = o) f;
    if again is not null then
        perform trunkline.note_failures(s.id, a_strand, again, attempts, a_error, a_due_at);
    end if;
    if not isempty(a_over) then
        letters := trunkline.letters_of(s.id, t.id, a_strand, a_over, stop);
        delete from trunkline.parked p where p.subscription = s.id and p.strand = a_strand and p."offset" = any (letters.offsets);
        perform trunkline.give_up(s.id, a_strand, letters, most, a_error, '', stop);
        a_done := a_done + trunkline.ranges(letters.offsets)::int8multirange;
    end if;
end $$;

-- Takes a batch of messages of one partition, in order, for as long as the lease; none if there is nothing to be had. Partitions that have
-- an open batch, or in which somebody else is just popping or settling, are left out; among the others chance decides, and among
-- priorities too, mostly for the higher. An expired batch has failed: its messages come again, or are given up.
create function trunkline.pop(a_group text, a_topic text, a_max int, a_lease interval) returns setof trunkline.popped
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
    s trunkline.subscription;
    t trunkline.topic;
    b record;
    luck double precision := random();
    levels int[];
    clock timestamptz := clock_timestamp();
    candidates refcursor;
    a_strand int; a_partition int; holder_epoch bigint;
    last trunkline.grants; g trunkline.grants;
    state record; failed record; chosen record;
    unwanted int8multirange;
    size int;
begin
    perform trunkline.check_pull(a_lease);
    if a_max is null or a_max not between 1 and 10000 then
        perform trunkline.refuse(format('a batch of %s messages is not possible', coalesce(a_max::text, 'null')), 'TL008', 'Use 1 to 10000.');
    end if;
    s := trunkline.pull_group(a_group, a_topic);
    if s.status = 'PAUSED' then
        return;
    end if;
    select k.* into strict t from trunkline.topic k where k.id = s.topic;
    if exists (select from trunkline.dead_letter d where d.subscription = s.id and d.intent is not null) then
        perform trunkline.carry_out_in(s.id, array(
            select h.partition from trunkline.holder h
            where h.subscription = s.id and h.partition in (
                select d.strand % t.partitions from trunkline.dead_letter d where d.subscription = s.id and d.intent is not null)
            order by h.partition for no key update skip locked));
    end if;
    select * into b from trunkline.bounds(t.id);
    levels := case when t.levels = 1 then '{0}' when luck < 0.7 then '{1,0,2}' when luck < 0.9 then '{0,1,2}' else '{2,1,0}' end;
    -- This only looks: where there is nothing to do, nothing is locked or written.
    open candidates no scroll for
        select x.strand
        from (
            select p + t.partitions * l.level as strand, p as partition, l.level
            from unnest(levels) with ordinality as l (level, rank)
            cross join generate_series(0, t.partitions - 1) p
            order by l.rank, random()) x
        left join lateral trunkline.last_grant(s.id, x.partition) k on true
        cross join lateral trunkline.state_of(s.id, x.partition, x.level, x.strand, b.ends[x.strand + 1]) u
        cross join lateral trunkline.choose(s, t, x.strand, u.undone, 1) c
        where (k.given is null or isempty(k.given) or k.expires_at <= clock or k.epoch <= u.epoch)
          and (not isempty(u.undone) or exists (select from trunkline.parked p where p.subscription = s.id and p.strand = x.strand))
          and (not isempty(c.give) or not isempty(c.park));
    loop
        fetch candidates into a_strand;
        exit when not found;
        a_partition := a_strand % t.partitions;
        select h.epoch into holder_epoch
        from trunkline.holder h where h.subscription = s.id and h.partition = a_partition for no key update skip locked;
        continue when not found;
        -- Now it is ours. What follows are statements of their own, which see what the last owner did.
        select k.* into last from trunkline.last_grant(s.id, a_partition) k;
        clock := clock_timestamp();
        if last.epoch <= holder_epoch then
            last.given := '{}';
        end if;
        continue when not isempty(last.given) and last.expires_at > clock;
        g := row(s.id, a_partition, greatest(holder_epoch, last.epoch) + 1, 0, gen_random_uuid(), a_strand, '{}', clock, clock + a_lease);
        if not isempty(last.given) then
            select * into state from trunkline.state_of(s.id, a_partition, last.strand / t.partitions, last.strand, 0);
            failed := trunkline.fail(s, t, last.strand, last.given, 'not acknowledged within its lease', null, false, state.done);
            g.sequence := g.sequence + 1;
            perform trunkline.append_done(s.id, last.strand, g.epoch, g.sequence, failed.a_done);
        end if;
        delete from trunkline.blocked k
        where k.subscription = s.id and k.strand = a_strand
          and not exists (select from trunkline.parked p where p.subscription = s.id and p.strand = a_strand and p.key = k.key offset 0)
          and not trunkline.is_stopped(s.id, a_strand, k.key);
        loop
            select * into state from trunkline.state_of(s.id, a_partition, a_strand / t.partitions, a_strand, b.ends[a_strand + 1]);
            if lower(state.undone) < b.firsts[a_strand + 1] then
                perform trunkline.refuse(
                    format('offset %s of partition %s of topic "%s" is no longer in the log', lower(state.undone), a_partition, t.name),
                    'TL008', 'Make the group anew.');
            end if;
            if s.keyed then
                -- As far as a pop looks at most.
                unwanted := trunkline.unwanted(s, t, a_strand, trunkline.first_of(state.undone, a_max + trunkline.pull_window()));
                if not isempty(unwanted) then
                    g.sequence := g.sequence + 1;
                    perform trunkline.append_done(s.id, a_strand, g.epoch, g.sequence, state.done + unwanted,
                        case t.tracking when 'REFERENCE_COUNTING' then unwanted end);
                    continue;
                end if;
            end if;
            chosen := trunkline.choose(s, t, a_strand, state.undone, a_max);
            exit when isempty(chosen.park);
            perform trunkline.lay_aside(s.id, a_strand, trunkline.letters_of(s.id, t.id, a_strand, chosen.park, false));
            g.sequence := g.sequence + 1;
            perform trunkline.append_done(s.id, a_strand, g.epoch, g.sequence, state.done + chosen.park);
            exit when not isempty(chosen.give);
        end loop;
        size := 0;
        if not isempty(chosen.give) then
            return query
                select format('%s-%s-%s-%s', s.id, a_partition, g.epoch, g.token), a_partition, (array[0, 1, -1])[a_strand / t.partitions + 1],
                       m."offset", m.id, m.unit, m.unit_end, m.key, coalesce(m.headers, '{}'), m.correlation_id, m.content_type, m.payload,
                       m.published_at, m.appended_at, coalesce(a.attempts, 0) + 1, g.epoch, g.expires_at
                from trunkline.given_messages(s.id, t.id, a_strand, chosen.give, case when chosen.plain then trunkline.batch_bytes() end) m
                left join trunkline.attempt a on a.subscription = s.id and a.strand = a_strand and a."offset" = m."offset"
                order by m."offset";
            get diagnostics size = row_count;
            -- The log has no gaps: so many rows are the first so many offsets.
            g.given := trunkline.first_of(chosen.give, size);
        end if;
        -- One that gives nothing closes what has expired.
        if size > 0 or g.sequence > 0 then
            g.sequence := g.sequence + 1;
            perform trunkline.append_grant(g);
        end if;
        exit when size > 0;
    end loop;
    close candidates;
end $$;

-- The grant of a token, its holder locked, and the group. Expired or not, it counts until somebody else pops the partition.
create function trunkline.claim(a_token text, a_subscription int, out s trunkline.subscription, out t trunkline.topic, out g trunkline.grants)
    language plpgsql
as $$
declare
    parts text[] := regexp_match(a_token, '^(\d{1,9})-(\d{1,4})-(\d{1,18})-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$');
    an_epoch bigint := parts[3];
    holder_epoch bigint;
begin
    select k.* into s from trunkline.subscription k where k.id = parts[1]::int;
    select h.epoch into holder_epoch from trunkline.holder h where h.subscription = s.id and h.partition = parts[2]::int for no key update;
    if holder_epoch is not null then
        select k.* into g from trunkline.last_grant(s.id, parts[2]::int) k;
    end if;
    if g.epoch is null or g.epoch < an_epoch or g.epoch = an_epoch and g.token <> parts[4]::uuid then
        perform trunkline.refuse(format('there is no batch with token "%s"', a_token), 'TL008', 'Use the token that came with its messages.');
    elsif a_subscription <> s.id then
        perform trunkline.refuse(format('token "%s" is of another group', a_token), 'TL008', 'Use it with the group that popped its messages.');
    elsif s.status = 'CANCELLED' then
        perform trunkline.refuse(format('group "%s" was cancelled', s.group_name), 'TL008', 'Drop the batch.');
    elsif greatest(g.epoch, holder_epoch + 1) > an_epoch then
        perform trunkline.refuse(
            format('the batch of epoch %s is no longer open: partition %s is at epoch %s', an_epoch, g.partition, greatest(g.epoch, holder_epoch)),
            'TL009', 'It was settled before, or its lease ran out and its messages were given out again.');
    end if;
    select k.* into strict t from trunkline.topic k where k.id = s.topic;
end $$;

-- The offsets that a caller names, or all that is left of the batch.
create function trunkline.part_of(g trunkline.grants, a_offsets bigint[]) returns int8multirange
    language plpgsql
as $$
declare
    stranger text;
begin
    if a_offsets is null then
        return g.given;
    end if;
    select coalesce(o::text, 'null') into stranger from unnest(a_offsets) o where o is null or not g.given @> o limit 1;
    if found then
        perform trunkline.refuse(format('offset %s is not in this batch, or no longer', stranger), 'TL008',
            format('What is left of it is %s.', g.given));
    end if;
    return trunkline.ranges(a_offsets);
end $$;

-- What is left of a batch after some of it was settled.
create function trunkline.append_rest(g trunkline.grants, a_done int8multirange, a_rest int8multirange) returns bigint[]
    language plpgsql
as $$
begin
    g.sequence := g.sequence + 1;
    g.given := a_rest;
    perform trunkline.append_done(g.subscription, g.strand, g.epoch, g.sequence, a_done);
    perform trunkline.append_grant(g);
    return array(select o from trunkline.offsets_of(a_rest) o);
end $$;

-- Records messages of a batch as done: those at these offsets, or all that are left. What the caller did about them in the same transaction
-- happens once. Messages of one key of an ordered topic are acknowledged in order. Returns the offsets that are left.
create function trunkline.ack(a_token text, a_offsets bigint[] default null, a_subscription int default null) returns bigint[]
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
    c record; state record;
    g trunkline.grants;
    acked int8multirange;
    early bigint;
    settled bigint[];
begin
    perform trunkline.check_pull();
    c := trunkline.claim(a_token, a_subscription);
    g := c.g;
    acked := trunkline.part_of(g, a_offsets);
    if isempty(acked) then
        return array(select o from trunkline.offsets_of(g.given) o);
    end if;
    if not acked @> g.given and (c.t).ordering = 'ORDERED' then
        select a."offset" into early
        from (
            select m."offset", min(m."offset") filter (where not acked @> m."offset") over (partition by m.key) as first_left
            from trunkline.given_messages(g.subscription, (c.t).id, g.strand, g.given) m
            where m.key is not null) a
        where acked @> a."offset" and a."offset" > a.first_left limit 1;
        if found then
            perform trunkline.refuse(format('offset %s comes after one of its key that is not done', early), 'TL008',
                'Acknowledge a key in order, or together.');
        end if;
    end if;
    select * into state from trunkline.state_of(g.subscription, g.partition, g.strand / (c.t).partitions, g.strand, 0);
    delete from trunkline.attempt a
    where a.subscription = g.subscription and a.strand = g.strand and a."offset" >= lower(acked) and a."offset" < upper(acked)
      and acked @> a."offset";
    with gone as (
        delete from trunkline.parked p
        where p.subscription = g.subscription and p.strand = g.strand and p."offset" >= lower(acked) and p."offset" < upper(acked)
          and acked @> p."offset"
        returning p."offset"
    )
    select array_agg(k."offset") into settled from gone k;
    perform trunkline.trace(g.subscription, g.strand, trunkline.ranges(settled)::int8multirange, 'DONE', g.epoch, null) where settled is not null;
    return trunkline.append_rest(g, state.done + acked, g.given - acked);
end $$;

-- What nack and reject share. In an ordered topic what comes after a message on its key is handed back with it, and has not failed.
create function trunkline.hand_back(
    a_token text, a_offsets bigint[], a_due_at timestamptz, a_error text, a_reject boolean, a_subscription int) returns bigint[]
    language plpgsql
as $$
declare
    c record; state record; f record;
    g trunkline.grants;
    failed int8multirange; stopped int8multirange; behind int8multirange;
    offsets bigint[]; keys text[];
begin
    c := trunkline.claim(a_token, a_subscription);
    g := c.g;
    failed := trunkline.part_of(g, a_offsets);
    if isempty(failed) then
        return array(select o from trunkline.offsets_of(g.given) o);
    end if;
    if (c.t).ordering = 'ORDERED' and not isempty(g.given - failed) then
        select array_agg(m."offset"), array_agg(m.key) into offsets, keys
        from trunkline.given_messages(g.subscription, (c.t).id, g.strand, g.given) m where m.key is not null;
    end if;
    select * into state from trunkline.state_of(g.subscription, g.partition, g.strand / (c.t).partitions, g.strand, 0);
    f := trunkline.fail(c.s, c.t, g.strand, failed, left(a_error, 4000), a_due_at, a_reject, state.done);
    stopped := case when (c.s).stop_key then failed else failed - f.a_over end;
    select coalesce(range_agg(int8range(m."offset", m."offset" + 1)), '{}') into behind
    from (
        select k."offset", min(k."offset") filter (where stopped @> k."offset") over (partition by k.key) as first_stopped
        from unnest(offsets, keys) k ("offset", key)) m
    where m."offset" > m.first_stopped;
    return trunkline.append_rest(g, f.a_done, g.given - failed - behind);
end $$;

-- Hands messages of a batch back: they have failed, and come again after the delay, or are given up if they were tried often enough.
-- Returns the offsets that are left.
create function trunkline.nack(
    a_token text, a_offsets bigint[] default null, a_delay interval default '0', a_error text default null, a_subscription int default null)
    returns bigint[]
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
begin
    perform trunkline.check_pull();
    if a_delay is null or a_delay not between interval '0' and interval '1 year' then
        perform trunkline.refuse(format('a delay of %s is not possible', coalesce(a_delay::text, 'null')), 'TL008', 'Use zero to a year.');
    end if;
    return trunkline.hand_back(
        a_token, a_offsets, clock_timestamp() + nullif(a_delay, '0'), coalesce(a_error, 'handed back'), false, a_subscription);
end $$;

-- Gives messages of a batch up at once: another try would not help. Returns the offsets that are left.
create function trunkline.reject(a_token text, a_offsets bigint[] default null, a_error text default null, a_subscription int default null)
    returns bigint[]
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
begin
    perform trunkline.check_pull();
    return trunkline.hand_back(a_token, a_offsets, null, coalesce(a_error, 'rejected'), true, a_subscription);
end $$;

-- Gives a batch a new lease, from now on. Returns when that ends.
create function trunkline.extend(a_token text, a_lease interval, a_subscription int default null) returns timestamptz
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
    c record;
    g trunkline.grants;
begin
    perform trunkline.check_pull(a_lease);
    c := trunkline.claim(a_token, a_subscription);
    g := c.g;
    if isempty(g.given) then
        perform trunkline.refuse('nothing is left of this batch', 'TL008', 'Pop the next one.');
    end if;
    g.sequence := g.sequence + 1;
    g.expires_at := clock_timestamp() + a_lease;
    perform trunkline.append_grant(g);
    return g.expires_at;
end $$;

-- Batches that are open, for people.
create view trunkline.open_batches as
    select s.group_name, t.name as topic, g.partition, (array[0, 1, -1])[g.strand / t.partitions + 1] as priority, g.epoch, g.given as offsets,
           g.granted_at, g.expires_at
    from trunkline.subscription s
    join trunkline.topic t on t.id = s.topic
    join trunkline.holder h on h.subscription = s.id
    cross join lateral (
        select k.* from trunkline.grants k
        where k.subscription = h.subscription and k.partition = h.partition order by k.epoch desc, k.sequence desc limit 1) g
    where s.mode = 'PULL' and s.status <> 'CANCELLED' and not isempty(g.given);
