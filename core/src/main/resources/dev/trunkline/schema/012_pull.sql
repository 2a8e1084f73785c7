-- Pull: for callers that can not keep a handler running. Ack, nack, release, reject and extend work from anywhere, under the holder's lock, as long as nobody
-- else has popped the partition.

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
    select array_agg(f."offset") filter (where not f.over and not f.passed), array_agg(f.attempts) filter (where not f.over and not f.passed),
           coalesce(range_agg(int8range(f."offset", f."offset" + 1)) filter (where f.over), '{}'), max(f.attempts) filter (where f.over)
    into again, attempts, a_over, most
    from (
        select o as "offset", coalesce(a.attempts, 0) + 1 as attempts, a_reject or coalesce(a.attempts, 0) + 1 >= s.attempts as over,
               -- Done although it is not parked: the group has passed over it meanwhile, and it does not come again.
               a_done @> o and not exists (select from trunkline.parked p where p.subscription = s.id and p.strand = a_strand and p."offset" = o) as passed
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

-- A message that is given singly, as a frame.
create function trunkline.frame_of(
    a_strand int, a_offset bigint, a_id bigint, a_unit bigint, a_unit_end boolean, a_published_at timestamptz, a_appended_at timestamptz,
    a_key text, a_correlation_id text, a_content_type text, a_headers text[], a_payload bytea) returns trunkline.segment_shape
    language sql stable
as $$
    select row(a_offset, a_appended_at, a_strand, not a_unit_end, a_id, array[0], array[a_unit - a_id],
        array[(extract(epoch from a_appended_at - a_published_at) * 1000000)::bigint], array[octet_length(a_payload)], array[a_key],
        array[a_correlation_id], array[a_content_type], array[a_headers::text], a_payload)::trunkline.segment_shape
$$;

-- Takes a batch of messages of one partition, in order, for as long as the lease; none if there is nothing to be had. Partitions that have
-- an open batch, or in which somebody else is just popping or settling, are left out; among the others chance decides, and among
-- priorities too, mostly for the higher. An expired batch has failed: its messages come again, or are given up. Of a long history that a group does not
-- want, a pop works off a part, and may give nothing although there is more.
create function trunkline.pop_frames(a_group text, a_topic text, a_max int, a_lease interval) returns setof trunkline.popped_frame
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
    piece trunkline.popped_frame;
    lying trunkline.segment_shape;
    bytes bigint;
    size int;
    rounds int := 0;
begin
    perform trunkline.check_pull(a_lease);
    perform trunkline.notice_failover();
    if a_max is null or a_max not between 1 and 10000 then
        perform trunkline.refuse(format('a batch of %s messages is not possible', coalesce(a_max::text, 'null')), 'TL008', 'Use 1 to 10000.');
    end if;
    s := trunkline.pull_group(a_group, a_topic);
    if s.status = 'PAUSED' then
        return;
    end if;
    select k.* into t from trunkline.topic k where k.id = s.topic;
    if not found then
        perform trunkline.refuse(format('there is no topic "%s"', a_topic), 'TL001', 'It has just been dropped.');
    end if;
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
                    rounds := rounds + 1;
                    continue when rounds < trunkline.pull_rounds();
                    -- Others wait for the holder: this is written, and the next pop goes on.
                    select '{}'::int8multirange as give, '{}'::int8multirange as park, true as plain into chosen;
                    exit;
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
        piece.token := format('%s-%s-%s-%s', s.id, a_partition, g.epoch, g.token);
        piece.epoch := g.epoch;
        piece.expires_at := g.expires_at;
        piece.partition := a_partition;
        piece.priority := (array[0, 1, -1])[a_strand / t.partitions + 1];
        if chosen.plain then
            piece.attempt := 1;
            bytes := 0;
            for lying in select k.* from trunkline.frames(t.id, a_strand, chosen.give) k loop
                exit when bytes >= trunkline.batch_bytes();
                piece.frame := lying;
                piece.offsets := null;
                if not chosen.give @> int8range(lying.last_offset - cardinality(lying.ids), lying.last_offset, '(]') then
                    piece.offsets := array(
                        select o from generate_series(lying.last_offset - cardinality(lying.ids) + 1, lying.last_offset) o where chosen.give @> o);
                end if;
                size := size + cardinality(coalesce(piece.offsets, lying.ids));
                bytes := bytes + octet_length(lying.payloads);
                return next piece;
            end loop;
        elsif not isempty(chosen.give) then
            return query
                select piece.token, piece.epoch, piece.expires_at, piece.partition, piece.priority, coalesce(a.attempts, 0) + 1, null::bigint[],
                       trunkline.frame_of(a_strand, m."offset", m.id, m.unit, m.unit_end, m.published_at, m.appended_at, m.key, m.correlation_id,
                           m.content_type, m.headers, m.payload)
                from trunkline.given_messages(s.id, t.id, a_strand, chosen.give) m
                left join trunkline.attempt a on a.subscription = s.id and a.strand = a_strand and a."offset" = m."offset"
                order by m."offset";
            get diagnostics size = row_count;
        end if;
        -- The log has no gaps: so many are the first so many offsets.
        g.given := trunkline.first_of(chosen.give, size);
        -- One that gives nothing closes what has expired.
        if size > 0 or g.sequence > 0 then
            g.sequence := g.sequence + 1;
            perform trunkline.append_grant(g);
        end if;
        exit when size > 0 or rounds >= trunkline.pull_rounds();
    end loop;
    close candidates;
end $$;

-- The same, message by message.
create function trunkline.pop(a_group text, a_topic text, a_max int, a_lease interval) returns setof trunkline.popped
    language sql volatile security definer
    set search_path = pg_catalog, pg_temp
as $$
    select p.token, p.partition, p.priority, m."offset", m.id, m.unit, m.unit_end, m.key, coalesce(m.headers, '{}'), m.correlation_id, m.content_type,
           m.payload, m.published_at, m.appended_at, p.attempt, p.epoch, p.expires_at
    from trunkline.pop_frames(a_group, a_topic, a_max, a_lease) p
    cross join lateral trunkline.messages_of(p.frame) m
    where p.offsets is null or m."offset" = any (p.offsets)
$$;

-- The grant of a token, its holder locked, and the group; if one is named, and a topic, it must be that. Expired or not, it counts until somebody else pops the partition.
create function trunkline.claim(a_token text, a_group text, a_topic text, out s trunkline.subscription, out t trunkline.topic, out g trunkline.grants)
    language plpgsql
as $$
declare
    parts text[] := regexp_match(a_token, '^(\d{1,9})-(\d{1,4})-(\d{1,18})-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$');
    an_epoch bigint := parts[3];
    holder_epoch bigint;
begin
    select k.* into s from trunkline.subscription k where k.id = parts[1]::int;
    select k.* into t from trunkline.topic k where k.id = s.topic;
    -- Before anything is locked: a token that somebody has made up must not hold up a group that is not his.
    if a_group not in (s.group_name, coalesce(s.former_name, s.group_name)) or t.name <> a_topic then
        perform trunkline.refuse(format('token "%s" is of another group', a_token), 'TL008', 'Use it with the group that popped its messages.');
    end if;
    select h.epoch into holder_epoch from trunkline.holder h where h.subscription = s.id and h.partition = parts[2]::int for no key update;
    if holder_epoch is not null then
        select k.* into g from trunkline.last_grant(s.id, parts[2]::int) k;
    end if;
    if g.epoch is null or g.epoch < an_epoch or g.epoch = an_epoch and g.token <> parts[4]::uuid then
        perform trunkline.refuse(format('there is no batch with token "%s"', a_token), 'TL008', 'Use the token that came with its messages.');
    elsif s.status = 'CANCELLED' then
        perform trunkline.refuse(format('group "%s" was cancelled', s.group_name), 'TL008', 'Drop the batch.');
    elsif greatest(g.epoch, holder_epoch + 1) > an_epoch then
        raise 'the batch of epoch % is no longer open: partition % is at epoch %', an_epoch, g.partition, greatest(g.epoch, holder_epoch)
            using errcode = 'TL009', detail = greatest(g.epoch, holder_epoch),
                  hint = 'It was settled before, or its lease ran out and its messages were given out again.';
    end if;
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
create function trunkline.ack(a_token text, a_offsets bigint[] default null, a_group text default null, a_topic text default null) returns bigint[]
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
    c := trunkline.claim(a_token, a_group, a_topic);
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
    a_token text, a_offsets bigint[], a_due_at timestamptz, a_error text, a_reject boolean, a_group text, a_topic text) returns bigint[]
    language plpgsql
as $$
declare
    c record; state record; f record;
    g trunkline.grants;
    failed int8multirange; stopped int8multirange; behind int8multirange;
    offsets bigint[]; keys text[];
begin
    c := trunkline.claim(a_token, a_group, a_topic);
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
    a_token text, a_offsets bigint[] default null, a_delay interval default '0', a_error text default null, a_group text default null,
    a_topic text default null)
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
        a_token, a_offsets, clock_timestamp() + nullif(a_delay, '0'), coalesce(a_error, 'handed back'), false, a_group, a_topic);
end $$;

-- Gives messages of a batch back as if they had not been taken: nobody has tried them. In an ordered topic what comes after one on its key goes with it.
-- Returns the offsets that are left.
create function trunkline.release(a_token text, a_offsets bigint[] default null, a_group text default null, a_topic text default null) returns bigint[]
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
    c record;
    g trunkline.grants;
    released int8multirange; behind int8multirange := '{}';
begin
    perform trunkline.check_pull();
    c := trunkline.claim(a_token, a_group, a_topic);
    g := c.g;
    released := trunkline.part_of(g, a_offsets);
    if not isempty(released) then
        if (c.t).ordering = 'ORDERED' and not isempty(g.given - released) then
            select coalesce(range_agg(int8range(k."offset", k."offset" + 1)), '{}') into behind
            from (
                select m."offset", min(m."offset") filter (where released @> m."offset") over (partition by m.key) as first_released
                from trunkline.given_messages(g.subscription, (c.t).id, g.strand, g.given) m where m.key is not null) k
            where k."offset" > k.first_released;
        end if;
        -- Nothing is done by it: no progress is recorded.
        g.sequence := g.sequence + 1;
        g.given := g.given - released - behind;
        perform trunkline.append_grant(g);
    end if;
    return array(select o from trunkline.offsets_of(g.given) o);
end $$;

-- Gives messages of a batch up at once: another try would not help. Returns the offsets that are left.
create function trunkline.reject(
    a_token text, a_offsets bigint[] default null, a_error text default null, a_group text default null, a_topic text default null)
    returns bigint[]
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
begin
    perform trunkline.check_pull();
    return trunkline.hand_back(a_token, a_offsets, null, coalesce(a_error, 'rejected'), true, a_group, a_topic);
end $$;

-- Gives a batch a new lease, from now on. Returns when that ends.
create function trunkline.extend(a_token text, a_lease interval, a_group text default null, a_topic text default null) returns timestamptz
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
declare
    c record;
    g trunkline.grants;
begin
    perform trunkline.check_pull(a_lease);
    c := trunkline.claim(a_token, a_group, a_topic);
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
