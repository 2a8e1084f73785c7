-- What a group could not do at once: attempts that failed, keys that are blocked, messages that are parked behind them, dead
-- letters, and suspects. All of it belongs to the owner of the partition, who writes it under the fence; others leave intents.

-- Failed deliveries, written on failure: they survive the process.
create table trunkline.attempt (
    subscription  int not null,
    strand        int not null,
    "offset"      bigint not null,
    attempts      int not null,
    history       text[] not null,
    -- Not to be pulled before. Handlers keep their own time.
    due_at        timestamptz,
    primary key (subscription, strand, "offset")
);

-- Keys that wait: what comes of them is parked.
create table trunkline.blocked (
    subscription  int not null,
    strand        int not null,
    key           text collate "C" not null,
    since         timestamptz not null default clock_timestamp(),
    primary key (subscription, strand, key)
);

-- Copies of messages that wait for their key. In the log they count as done, so that the cursor and retention move on.
create table trunkline.parked (
    subscription    int not null,
    strand          int not null,
    "offset"        bigint not null,
    message_id      bigint not null,
    unit            bigint not null,
    unit_end        boolean not null,
    published_at    timestamptz not null,
    appended_at     timestamptz not null,
    key             text collate "C",
    correlation_id  text collate "C",
    content_type    text collate "C" not null,
    headers         text[],
    payload         bytea not null,
    parked_at       timestamptz not null default clock_timestamp(),
    primary key (subscription, strand, "offset")
);
alter table trunkline.parked alter column payload set storage external;
create index parked_line on trunkline.parked (subscription, strand, key, "offset");

-- What a group has given up, with everything that is needed to look at it and to try again.
create table trunkline.dead_letter (
    id              bigint generated always as identity primary key,
    subscription    int not null,
    strand          int not null,
    "offset"        bigint not null,
    message_id      bigint not null,
    unit            bigint not null,
    unit_end        boolean not null,
    published_at    timestamptz not null,
    appended_at     timestamptz not null,
    key             text collate "C",
    correlation_id  text collate "C",
    content_type    text collate "C" not null,
    headers         text[],
    payload         bytea not null,
    attempts        int not null,
    error           text not null,
    stack           text not null,
    history         text[] not null,
    -- What comes after it on its key waits until it is redriven or discarded.
    stops_key       boolean not null,
    intent          text check (intent in ('REDRIVE', 'DISCARD')),
    buried_at       timestamptz not null default clock_timestamp(),
    unique (subscription, strand, "offset")
);
alter table trunkline.dead_letter alter column payload set storage external;
create index dead_letter_intent on trunkline.dead_letter (subscription) where intent is not null;

-- Messages that were noted before they were started, because a process had died over its messages. One that is still here was
-- being handled when the next one died.
create table trunkline.suspect (
    subscription  int not null,
    strand        int not null,
    "offset"      bigint not null,
    session       bigint not null,
    alone         boolean not null,
    primary key (subscription, strand, "offset")
);

-- Messages of one strand, as columns.
create type trunkline.letters as (
    offsets bigint[], ids bigint[], units bigint[], unit_ends boolean[], published_at timestamptz[], appended_at timestamptz[],
    keys text[], correlation_ids text[], content_types text[], headers text[], payloads bytea[]);

create function trunkline.ranges(offsets bigint[]) returns text
    language sql immutable
as $$
    select coalesce(range_agg(int8range(o, o + 1))::text, '{}') from unnest(offsets) o
$$;

-- Whether a session owns the partition of a strand.
create function trunkline.holds(a_session bigint, a_subscription int, a_strand int) returns boolean
    language sql stable
as $$
    select exists (
        select from trunkline.holder h
        join trunkline.subscription k on k.id = h.subscription
        join trunkline.topic t on t.id = k.topic
        where h.subscription = a_subscription and h.partition = a_strand % t.partitions and h.session = a_session)
$$;

-- Counts failed attempts. Who says which session he is counts only in what that owns.
create function trunkline.note_failures(
    a_subscription int, a_strand int, a_offsets bigint[], a_attempts int[], a_error text, a_due_at timestamptz default null,
    a_session bigint default null) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp
as $$
    insert into trunkline.attempt as a (subscription, strand, "offset", attempts, history, due_at)
    select a_subscription, a_strand, x."offset", x.attempts, array[clock_timestamp()::text || ' ' || a_error], a_due_at
    from unnest(a_offsets, a_attempts) x ("offset", attempts)
    where a_session is null or trunkline.holds(a_session, a_subscription, a_strand)
    on conflict (subscription, strand, "offset")
        do update set attempts = greatest(a.attempts, excluded.attempts), history = a.history[greatest(1, cardinality(a.history) - 18):] || excluded.history,
                      due_at = excluded.due_at
$$;

create function trunkline.forget_failures(a_subscription int, a_strand int, a_offsets bigint[], a_session bigint) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp
as $$
    delete from trunkline.attempt a where a.subscription = a_subscription and a.strand = a_strand and a."offset" = any (a_offsets)
      and trunkline.holds(a_session, a_subscription, a_strand)
$$;

-- Records messages as done and takes them out of what is parked. False: somebody else owns the partition.
create function trunkline.settle(
    a_session bigint, a_subscription int, a_partition int, a_strand int, a_epoch bigint, a_sequence bigint, a_offsets bigint[], a_parked boolean) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    settled bigint[];
begin
    if trunkline.record(a_session, array[a_subscription], array[a_partition], array[a_strand], array[a_epoch], array[a_sequence],
                        array[trunkline.ranges(a_offsets)]) is null then
        return false;
    end if;
    if a_parked then
        with gone as (
            delete from trunkline.parked p where p.subscription = a_subscription and p.strand = a_strand and p."offset" = any (a_offsets)
            returning p."offset"
        )
        select array_agg(g."offset") into settled from gone g;
        perform trunkline.trace(a_subscription, a_strand, trunkline.ranges(settled)::int8multirange, 'DONE', a_epoch, a_session) where settled is not null;
    end if;
    return true;
end $$;

-- The end of a handler's transaction: records its messages as done. The marker is gone if the handler has ended the transaction in
-- which it was set.
create function trunkline.fence(
    a_session bigint, a_subscription int, a_partition int, a_strand int, a_epoch bigint, a_sequence bigint, a_offsets bigint[], a_parked boolean) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    if current_setting('trunkline.delivery', true) is distinct from a_sequence::text then
        perform trunkline.refuse('the handler has ended the transaction that was not its own', 'TL008', 'Leave commit and rollback to the group.');
    end if;
    -- A handler may have chosen another level: what follows must see what is committed now.
    if current_setting('transaction_isolation') <> 'read committed' then
        perform trunkline.refuse('a handler''s transaction is READ COMMITTED', 'TL008', 'Leave its isolation as it is.');
    end if;
    perform set_config('idle_in_transaction_session_timeout', '2s', true);
    return trunkline.settle(a_session, a_subscription, a_partition, a_strand, a_epoch, a_sequence, a_offsets, a_parked);
end $$;

-- Copies messages aside: they are done in the log, and what comes after them on their keys waits. False: fenced.
create function trunkline.park(
    a_session bigint, a_subscription int, a_partition int, a_strand int, a_epoch bigint, a_sequence bigint, a_letters trunkline.letters) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    if not trunkline.settle(a_session, a_subscription, a_partition, a_strand, a_epoch, a_sequence, a_letters.offsets, false) then
        return false;
    end if;
    perform trunkline.lay_aside(a_subscription, a_strand, a_letters);
    return true;
end $$;

-- What park does once the messages are done in the log. The caller holds the fence.
create function trunkline.lay_aside(a_subscription int, a_strand int, a_letters trunkline.letters) returns void
    language plpgsql
as $$
begin
    insert into trunkline.parked
        (subscription, strand, "offset", message_id, unit, unit_end, published_at, appended_at, key, correlation_id, content_type, headers, payload)
    select a_subscription, a_strand, x."offset", x.id, x.unit, x.unit_end, x.published_at, x.appended_at, x.key, x.correlation_id, x.content_type,
           x.headers::text[], x.payload
    from unnest(a_letters.offsets, a_letters.ids, a_letters.units, a_letters.unit_ends, a_letters.published_at, a_letters.appended_at, a_letters.keys,
                a_letters.correlation_ids, a_letters.content_types, a_letters.headers, a_letters.payloads)
        as x ("offset", id, unit, unit_end, published_at, appended_at, key, correlation_id, content_type, headers, payload)
    on conflict do nothing;
    insert into trunkline.blocked (subscription, strand, key)
    select distinct a_subscription, a_strand, k from unnest(a_letters.keys) k where k is not null
    on conflict do nothing;
end $$;

-- Gives messages up: they become dead letters, and done. If they stop their keys, what comes after them waits. False: fenced.
create function trunkline.bury(
    a_session bigint, a_subscription int, a_partition int, a_strand int, a_epoch bigint, a_sequence bigint, a_letters trunkline.letters,
    a_attempts int, a_error text, a_stack text, a_stop boolean) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    if not trunkline.settle(a_session, a_subscription, a_partition, a_strand, a_epoch, a_sequence, a_letters.offsets, true) then
        return false;
    end if;
    perform trunkline.give_up(a_subscription, a_strand, a_letters, a_attempts, a_error, a_stack, a_stop);
    return true;
end $$;

-- What bury does once the messages are done and no longer parked. The caller holds the fence.
create function trunkline.give_up(
    a_subscription int, a_strand int, a_letters trunkline.letters, a_attempts int, a_error text, a_stack text, a_stop boolean) returns void
    language plpgsql
as $$
begin
    insert into trunkline.dead_letter
        (subscription, strand, "offset", message_id, unit, unit_end, published_at, appended_at, key, correlation_id, content_type, headers, payload,
         attempts, error, stack, history, stops_key)
    select a_subscription, a_strand, x."offset", x.id, x.unit, x.unit_end, x.published_at, x.appended_at, x.key, x.correlation_id, x.content_type,
           x.headers::text[], x.payload, a_attempts, a_error, a_stack,
           coalesce((select a.history from trunkline.attempt a where a.subscription = a_subscription and a.strand = a_strand and a."offset" = x."offset"), '{}')
               || (clock_timestamp()::text || ' ' || a_error),
           a_stop and x.key is not null
    from unnest(a_letters.offsets, a_letters.ids, a_letters.units, a_letters.unit_ends, a_letters.published_at, a_letters.appended_at, a_letters.keys,
                a_letters.correlation_ids, a_letters.content_types, a_letters.headers, a_letters.payloads)
        as x ("offset", id, unit, unit_end, published_at, appended_at, key, correlation_id, content_type, headers, payload)
    on conflict do nothing;
    delete from trunkline.attempt a where a.subscription = a_subscription and a.strand = a_strand and a."offset" = any (a_letters.offsets);
    delete from trunkline.suspect s where s.subscription = a_subscription and s.strand = a_strand and s."offset" = any (a_letters.offsets);
    if a_stop then
        insert into trunkline.blocked (subscription, strand, key)
        select distinct a_subscription, a_strand, k from unnest(a_letters.keys) k where k is not null
        on conflict do nothing;
    end if;
end $$;

-- Lets a key go on with what comes from the log, if nothing of it is parked; null: all keys of which nothing is, and that no dead letter stops.
-- False: something of the key is parked, or fenced.
create function trunkline.unblock(a_session bigint, a_subscription int, a_partition int, a_strand int, a_epoch bigint, a_key text) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    perform from trunkline.holder h
    where h.subscription = a_subscription and h.partition = a_partition and h.epoch = a_epoch and h.session = a_session
    for no key update;
    if not found or exists (select from trunkline.parked p where p.subscription = a_subscription and p.strand = a_strand and p.key = a_key) then
        return false;
    end if;
    delete from trunkline.blocked b
    where b.subscription = a_subscription and b.strand = a_strand
      and (b.key = a_key or a_key is null
          and not exists (select from trunkline.parked p where p.subscription = b.subscription and p.strand = b.strand and p.key = b.key)
          and not exists (
              select from trunkline.dead_letter d where d.subscription = b.subscription and d.strand = b.strand and d.key = b.key and d.stops_key));
    return true;
end $$;

-- The lines of parked messages in some partitions: one per key, and one for all that need not wait for a key. A line that a dead letter
-- stops waits for it.
create function trunkline.lines(a_subscription int, a_partitions int[]) returns table (strand int, key text, stopped boolean, parked bigint)
    language sql stable
as $$
    select l.strand, l.key,
           exists (select from trunkline.dead_letter d where d.subscription = a_subscription and d.strand = l.strand and d.key = l.key and d.stops_key),
           sum(l.parked)::bigint
    from (
        select b.strand, b.key, 0 as parked
        from trunkline.blocked b
        where b.subscription = a_subscription
        union all
        select p.strand, case when t.ordering = 'ORDERED' then p.key end, 1
        from trunkline.parked p
        join trunkline.subscription s on s.id = p.subscription
        join trunkline.topic t on t.id = s.topic
        where p.subscription = a_subscription) l
    join trunkline.subscription s on s.id = a_subscription
    join trunkline.topic t on t.id = s.topic
    where l.strand % t.partitions = any (a_partitions)
    group by l.strand, l.key
$$;

-- Carries out what was decided on dead letters of the partitions that a session holds: redriven ones are parked at their place, before
-- everything that came after them on their key. Returns how many there were.
create function trunkline.carry_out(a_session bigint, a_subscription int) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    held int[];
begin
    select array_agg(k.partition) into held
    from (
        select h.partition from trunkline.holder h
        where h.subscription = a_subscription and h.session = a_session
        order by h.partition for no key update) k;
    return trunkline.carry_out_in(a_subscription, held);
end $$;

-- What carry_out does in partitions whose holders the caller has locked.
create function trunkline.carry_out_in(a_subscription int, held int[]) returns int
    language plpgsql
as $$
declare
    t trunkline.topic;
    carried int;
    strands int[]; offsets bigint[];
begin
    select k.* into t from trunkline.subscription s join trunkline.topic k on k.id = s.topic where s.id = a_subscription;
    with gone as (
        -- Who holds holders does not wait for who is just deciding: that is for the next time.
        delete from trunkline.dead_letter d
        where d.id = any (array(
            select k.id from trunkline.dead_letter k
            where k.subscription = a_subscription and k.intent is not null and k.strand % t.partitions = any (held) for update skip locked))
        returning d.*
    ), parked as (
        insert into trunkline.parked
            (subscription, strand, "offset", message_id, unit, unit_end, published_at, appended_at, key, correlation_id, content_type, headers, payload)
        select g.subscription, g.strand, g."offset", g.message_id, g.unit, g.unit_end, g.published_at, g.appended_at, g.key, g.correlation_id, g.content_type,
               g.headers, g.payload
        from gone g where g.intent = 'REDRIVE'
        on conflict do nothing
    ), remembered as (
        insert into trunkline.attempt (subscription, strand, "offset", attempts, history)
        select g.subscription, g.strand, g."offset", 0, g.history || (clock_timestamp()::text || ' redriven')
        from gone g where g.intent = 'REDRIVE'
        on conflict do nothing
    ), blocked as (
        insert into trunkline.blocked (subscription, strand, key)
        select distinct g.subscription, g.strand, g.key
        from gone g where g.intent = 'REDRIVE' and g.key is not null and t.ordering = 'ORDERED'
        on conflict do nothing
    )
    select count(*), array_agg(g.strand) filter (where g.intent = 'DISCARD'), array_agg(g."offset") filter (where g.intent = 'DISCARD')
    into carried, strands, offsets
    from gone g;
    perform trunkline.trace(a_subscription, x.strand, int8multirange(int8range(x."offset", x."offset" + 1)), 'DISCARDED', h.epoch, h.session)
    from unnest(strands, offsets) x (strand, "offset")
    join trunkline.holder h on h.subscription = a_subscription and h.partition = x.strand % t.partitions;
    return carried;
end $$;

-- The suspects of some partitions. Those that were done before their process died are forgotten.
create function trunkline.suspects(a_subscription int, a_partitions int[]) returns table (strand int, "offset" bigint, alone boolean)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    delete from trunkline.suspect s
    using trunkline.done(a_subscription, a_partitions) d
    where s.subscription = a_subscription and s.strand = d.strand and d.done @> s."offset"
      and not exists (
          select from trunkline.parked p where p.subscription = s.subscription and p.strand = s.strand and p."offset" = s."offset");
    return query
    select s.strand, s."offset", s.alone
    from trunkline.suspect s
    join trunkline.subscription k on k.id = s.subscription
    join trunkline.topic t on t.id = k.topic
    where s.subscription = a_subscription and s.strand % t.partitions = any (a_partitions);
end $$;

-- Notes messages before they are started, and forgets those that this session noted before.
create function trunkline.note_suspects(a_session bigint, a_subscription int, a_strands int[], a_offsets bigint[], a_alone boolean) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp
as $$
    delete from trunkline.suspect s where s.subscription = a_subscription and s.session = a_session and (s.strand, s."offset") not in
        (select x.strand, x."offset" from unnest(a_strands, a_offsets) x (strand, "offset"));
    insert into trunkline.suspect (subscription, strand, "offset", session, alone)
    select a_subscription, x.strand, x."offset", a_session, a_alone
    from unnest(a_strands, a_offsets) x (strand, "offset")
    where trunkline.holds(a_session, a_subscription, x.strand)
    on conflict (subscription, strand, "offset") do update set session = excluded.session, alone = excluded.alone
$$;

-- Lets go of partitions that are still held at these epochs. Who has not heard that it was done, and took one again, keeps it. One that was orphaned
-- and whose suspects are not worked off is orphaned still for who takes it next: it is held by nobody, session 0.
create function trunkline.release_partitions(a_session bigint, a_subscription int, a_partitions int[], a_epochs bigint[], a_orphaned boolean[] default null) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp
as $$
    with freed as (
        update trunkline.holder h set session = case when i.orphaned then 0 end
        from unnest(a_partitions, a_epochs, a_orphaned) as i (partition, epoch, orphaned)
        where h.subscription = a_subscription and h.partition = i.partition and h.epoch = i.epoch and h.session = a_session
        returning h.partition
    )
    -- Only the suspects of what it lets go: others may be under way, and it may die of them.
    delete from trunkline.suspect s using trunkline.subscription k join trunkline.topic t on t.id = k.topic
    where s.subscription = a_subscription and s.session = a_session and k.id = a_subscription
      and s.strand % t.partitions in (select f.partition from freed f)
$$;

-- What a member decides by: the partitions of every live session that takes part, and the group's status.
create function trunkline.shares(a_subscription int, out status text, out partitions int, out sessions bigint[], out counts int[], out intents boolean,
    out history_held boolean, out tracked boolean, out group_name text)
    language sql stable security definer
    set search_path = pg_catalog, pg_temp
as $$
    select s.status, (select count(*)::int from trunkline.holder h where h.subscription = s.id), m.sessions, m.counts,
           exists (select from trunkline.dead_letter d where d.subscription = s.id and d.intent is not null),
           s.catch_up_cancelled, t.tracking = 'REFERENCE_COUNTING', s.group_name
    from trunkline.subscription s
    left join trunkline.topic t on t.id = s.topic
    left join lateral (
        select array_agg(m.session order by m.session) as sessions, array_agg(h.held order by m.session) as counts
        from trunkline.member m
        join trunkline.session k on k.id = m.session and k.ended_at is null
        cross join lateral (
            select count(*)::int as held from trunkline.holder h where h.subscription = m.subscription and h.session = m.session) h
        where m.subscription = s.id) m on true
    where s.id = a_subscription
$$;

-- Dead letters for people. Those of a cancelled group are there until it is forgotten, and nobody decides on them any more: see group_status.
create view trunkline.dead_letters as
    select d.id, s.group_name, s.status as group_status, t.name as topic, d.strand % t.partitions as partition,
           (array[0, 1, -1])[d.strand / t.partitions + 1] as priority, d."offset", d.message_id, d.key, d.published_at, d.buried_at, d.attempts,
           d.error, d.stack, d.history, d.stops_key, d.intent, d.correlation_id, d.content_type, d.headers, trunkline.as_text(d.payload) as text, d.payload
    from trunkline.dead_letter d
    join trunkline.subscription s on s.id = d.subscription
    join trunkline.topic t on t.id = s.topic;

-- Leaves an intent for the owners of a group's partitions on some of its dead letters, or all. Returns on how many.
create function trunkline.decide(a_group text, a_topic text, a_ids bigint[], a_intent text) returns bigint
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    s trunkline.subscription := trunkline.group_of(a_group, a_topic);
    decided bigint;
begin
    if s.status = 'CANCELLED' then
        perform trunkline.refuse(format('group "%s" of topic "%s" is cancelled', a_group, a_topic), 'TL008', 'It has nothing left to do.');
    end if;
    update trunkline.dead_letter d set intent = a_intent where d.subscription = s.id and (a_ids is null or d.id = any (a_ids));
    get diagnostics decided = row_count;
    return decided;
end $$;

-- Changes what a dead letter says, so that it can be handled when it is redriven. Its key and its place stay; so do content type and headers, if they are null.
create function trunkline.edit_dead_letter(
    a_group text, a_topic text, a_id bigint, a_payload bytea, a_content_type text default null, a_headers text[] default null) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    most int;
begin
    select t.max_payload_bytes into most from trunkline.topic t where t.name = a_topic;
    if octet_length(a_payload) <= most and coalesce(octet_length(a_content_type), 1) between 1 and 255
        and (a_headers is null or cardinality(a_headers) <= 2000 and cardinality(a_headers) % 2 = 0
            and array_position(a_headers, null) is null and octet_length(array_to_string(a_headers, '')) <= 65536) then
        update trunkline.dead_letter d
        set payload = a_payload, content_type = coalesce(a_content_type, d.content_type), headers = nullif(coalesce(a_headers, d.headers), '{}'),
            history = d.history || (clock_timestamp()::text || ' edited by ' || session_user)
        from trunkline.subscription s join trunkline.topic t on t.id = s.topic
        where d.id = a_id and d.intent is null and s.id = d.subscription and s.group_name = a_group and t.name = a_topic;
        if not found then
            perform trunkline.refuse(format('group "%s" of topic "%s" has no dead letter %s that is not decided', a_group, a_topic, a_id), 'TL008',
                'Look at trunkline.dead_letters for the ids.');
        end if;
    else
        perform trunkline.refuse_message(a_topic, octet_length(a_payload), null, a_headers, coalesce(a_content_type, 'as it was'), null, 0, null, null);
    end if;
end $$;

-- Has dead letters of a group handled again, each key in order. null: all of them.
create function trunkline.redrive(a_group text, a_topic text, a_ids bigint[] default null) returns bigint
    language sql
as $$
    select trunkline.decide(a_group, a_topic, a_ids, 'REDRIVE')
$$;

-- Removes dead letters of a group for good; keys that they stopped go on. null: all of them.
create function trunkline.discard(a_group text, a_topic text, a_ids bigint[] default null) returns bigint
    language sql
as $$
    select trunkline.decide(a_group, a_topic, a_ids, 'DISCARD')
$$;
