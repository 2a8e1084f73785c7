-- The ways in. publish and enqueue: one outbox row in the caller's transaction, no lock, no notification.
-- append: a batch in a transaction of its own, straight into the log where its lanes are free.

-- Refuses while the outbox holds transaction ids of another cluster: a logical restore has to be adopted first.
create function trunkline.require_adopted() returns void
    language plpgsql
as $$
begin
    if current_setting('trunkline.adopted', true) is distinct from current_database() then
        perform from trunkline.installation i, pg_control_system() c, pg_database d
        where d.datname = current_database() and i.system_identifier = c.system_identifier and i.database = d.oid;
        if not found then
            raise 'this Trunkline was restored from another database and has not been adopted'
                using errcode = 'TL004', hint = 'Call trunkline.adopt(), or open it with the Java library, which does.';
        end if;
        perform set_config('trunkline.adopted', current_database(), false);
    end if;
end $$;

create function trunkline.refuse(what text, code text, advice text) returns void
    language plpgsql stable
as $$
begin
    raise '%', what using errcode = code, hint = advice;
end $$;

-- Says what is wrong with a message; called only when something is.
create function trunkline.refuse_message(
    a_topic text, payload_bytes int, key text, headers text[], content_type text, correlation_id text, priority int,
    due_at timestamptz, idempotency_key text) returns void
    language plpgsql
as $$
declare
    t trunkline.topic;
    what text; advice text; code text := 'TL003';
begin
    select k.* into t from trunkline.topic k where k.name = a_topic;
    if a_topic is null then
        what := 'a message needs a topic'; advice := 'Name one.';
    elsif t.id is null then
        what := format('there is no topic "%s"', a_topic); code := 'TL001'; advice := 'Create it first.';
    elsif payload_bytes is null then
        what := 'a message needs a payload'; advice := 'An empty one will do.';
    elsif t.accepts_bytes < 0 then
        what := format('nobody listens to topic "%s", and it is set to refuse messages then', a_topic); code := 'TL010';
        advice := 'Start a group first, or let the topic keep them.';
    elsif payload_bytes > t.max_payload_bytes then
        what := format('a payload of %s bytes is over the limit of %s bytes of topic "%s"', payload_bytes, t.max_payload_bytes, a_topic);
        code := 'TL002'; advice := 'Raise the limit of the topic, or store the data elsewhere and send a reference.';
    elsif octet_length(key) > 1024 then
        what := format('a key of %s bytes is over the limit of 1024', octet_length(key)); advice := 'Use a shorter key.';
    elsif octet_length(idempotency_key) not between 1 and 1024 then
        what := format('an idempotency key of %s bytes is not within 1 to 1024', octet_length(idempotency_key)); advice := 'Use another key.';
    elsif octet_length(correlation_id) > 1024 then
        what := format('a correlation id of %s bytes is over the limit of 1024', octet_length(correlation_id)); advice := 'Use a shorter one.';
    elsif content_type is null or octet_length(content_type) not between 1 and 255 then
        what := 'a content type has 1 to 255 bytes'; advice := 'For example application/json.';
    elsif cardinality(headers) % 2 <> 0 or array_position(headers, null) is not null then
        what := 'headers are names and values that are text'; advice := 'Turn other values into text.';
    elsif cardinality(headers) > 2000 or octet_length(array_to_string(headers, '')) > 65536 then
        what := format('headers of %s bytes in %s fields are over the limit of 65536 bytes in 1000 fields',
            octet_length(array_to_string(headers, '')), cardinality(headers) / 2);
        advice := 'Put the data into the payload.';
    elsif priority is null or priority not between -1 and 1 then
        what := format('priority %s is not -1 (low), 0 (normal) or 1 (high)', priority); advice := 'Use one of these.';
    elsif priority <> 0 and t.levels = 1 then
        what := format('topic "%s" has no priority levels', a_topic); advice := 'They are declared when the topic is created.';
    elsif not isfinite(due_at) then
        what := format('a message can not be due at %s', due_at); advice := 'Name a time.';
    end if;
    perform trunkline.refuse(what, code, advice);
end $$;

-- When a message is due: at a time, or 'in' an interval, by the clock of the database.
create function trunkline.due(what text) returns timestamptz
    language sql volatile strict
    return case when what like 'in %' then clock_timestamp() + substr(what, 4)::interval else what::timestamptz end;

-- One message into the outbox, as part of the caller's transaction. Returns its id.
create function trunkline.enqueue(
    a_topic text, a_payload bytea, a_key text, a_headers text[], a_content_type text, a_correlation_id text, a_priority int,
    a_due_at timestamptz, a_idempotency_key text) returns bigint
    language plpgsql
as $$
declare
    t record;
    new_id bigint;
    place int;
begin
    if current_setting('trunkline.adopted', true) is distinct from current_database() then
        perform trunkline.require_adopted();
    end if;
    select k.id, k.partitions, k.lanes, k.levels, k.accepts_bytes, i.outbox_slot into t
    from trunkline.topic k, trunkline.installation i where k.name = a_topic;
    if t.id is null or a_payload is null or octet_length(a_payload) > t.accepts_bytes
        or a_content_type is null or octet_length(a_content_type) not between 1 and 255
        or octet_length(a_key) > 1024
        or a_priority is null or (a_priority <> 0 and (a_priority not in (-1, 1) or t.levels = 1))
        or not isfinite(a_due_at)
        or octet_length(a_correlation_id) > 1024
        or octet_length(a_idempotency_key) not between 1 and 1024
        or (a_headers is not null and (cardinality(a_headers) > 2000 or cardinality(a_headers) % 2 <> 0
            or array_position(a_headers, null) is not null or octet_length(array_to_string(a_headers, '')) > 65536)) then
        perform trunkline.refuse_message(a_topic, octet_length(a_payload), a_key, a_headers, a_content_type, a_correlation_id, a_priority, a_due_at, a_idempotency_key);
    end if;
    new_id := nextval('trunkline.message_id');
    place := trunkline.place(t.partitions, t.lanes, coalesce(a_key, a_idempotency_key), null, new_id / 2, a_priority);
    if t.outbox_slot = 0 then
        insert into trunkline.outbox_0 (id, topic, lane, partition, due_at, key, idempotency_key, correlation_id, content_type, headers, payload)
        values (new_id, t.id, place % t.partitions % t.lanes, place, a_due_at, a_key, a_idempotency_key, a_correlation_id, a_content_type, a_headers, a_payload);
    elsif t.outbox_slot = 1 then
        insert into trunkline.outbox_1 (id, topic, lane, partition, due_at, key, idempotency_key, correlation_id, content_type, headers, payload)
        values (new_id, t.id, place % t.partitions % t.lanes, place, a_due_at, a_key, a_idempotency_key, a_correlation_id, a_content_type, a_headers, a_payload);
    elsif t.outbox_slot = 2 then
        insert into trunkline.outbox_2 (id, topic, lane, partition, due_at, key, idempotency_key, correlation_id, content_type, headers, payload)
        values (new_id, t.id, place % t.partitions % t.lanes, place, a_due_at, a_key, a_idempotency_key, a_correlation_id, a_content_type, a_headers, a_payload);
    else
        insert into trunkline.outbox_3 (id, topic, lane, partition, due_at, key, idempotency_key, correlation_id, content_type, headers, payload)
        values (new_id, t.id, place % t.partitions % t.lanes, place, a_due_at, a_key, a_idempotency_key, a_correlation_id, a_content_type, a_headers, a_payload);
    end if;
    return new_id;
end $$;

-- A batch into the outbox. headers hold one array literal of names and values per message. units give, for each message,
-- the place in the batch of the last message that belongs together with it; null: the whole transaction does.
create function trunkline.enqueue_all(
    t trunkline.topic, keys text[], payloads bytea[], headers text[], content_types text[], correlation_ids text[], priorities int[],
    due_ats timestamptz[], idempotency_keys text[], units int[]) returns bigint[]
    language plpgsql
as $$
declare
    ids bigint[];
begin
    select array_agg(nextval('trunkline.message_id')) into ids from generate_series(1, cardinality(payloads));
    execute format($q$
        insert into trunkline.outbox_%s
            (id, unit, due_at, topic, lane, partition, key, idempotency_key, correlation_id, content_type, headers, payload)
        select m.id, $1[m.unit], m.due_at, $2, m.place %% $3 %% $4, m.place, m.key, m.idempotency_key, m.correlation_id, m.content_type,
               m.headers::text[], m.payload
        from (
            select k.*, trunkline.place($3, $4, coalesce(k.key, k.idempotency_key), null, k.id / 2, k.priority) as place
            from unnest($1, $5, $6, $7, $8, $9, $10, $11, $12, $13)
                as k (id, unit, due_at, priority, key, idempotency_key, correlation_id, content_type, headers, payload)) m
        $q$, (select i.outbox_slot from trunkline.installation i))
    using ids, t.id, t.partitions, t.lanes, units, due_ats, priorities, keys, idempotency_keys, correlation_ids, content_types, headers, payloads;
    return ids;
end $$;

-- Several messages into the outbox, as part of the caller's transaction. Returns their ids. headers hold one array literal
-- of names and values per message, deliver_ats what trunkline.due reads.
create function trunkline.publish_all(
    topic text, payloads bytea[], keys text[] default null, headers text[] default null, content_types text[] default null,
    correlation_ids text[] default null, priorities int[] default null, deliver_ats text[] default null,
    idempotency_keys text[] default null) returns bigint[]
    language plpgsql
as $$
declare
    t trunkline.topic;
    types text[] := coalesce(content_types, array_fill('application/octet-stream'::text, array[cardinality(payloads)]));
    due_ats timestamptz[];
begin
    if coalesce(cardinality(payloads), 0) = 0 then
        return '{}';
    end if;
    perform trunkline.require_adopted();
    select k.* into t from trunkline.topic k where k.name = publish_all.topic;
    begin
        if deliver_ats is not null then
            select array_agg(trunkline.due(d.due) order by d.n) into due_ats from unnest(deliver_ats) with ordinality as d (due, n);
        end if;
        perform trunkline.check_batch(topic, t, keys, payloads, headers, types, correlation_ids, priorities, due_ats, idempotency_keys);
    exception when data_exception or feature_not_supported then
        perform trunkline.refuse(format('a batch can not be read: %s', sqlerrm), 'TL003',
            'Headers are an array literal of names and values for each message, deliver_ats times, or "in" and an interval.');
    end;
    return trunkline.enqueue_all(t, keys, payloads, headers, types, correlation_ids, priorities, due_ats, idempotency_keys, null);
end $$;

-- Refuses a batch for its first bad message.
create function trunkline.check_batch(
    a_topic text, t trunkline.topic, keys text[], payloads bytea[], headers text[], content_types text[], correlation_ids text[],
    priorities int[], due_ats timestamptz[], idempotency_keys text[]) returns void
    language plpgsql
as $$
begin
    perform trunkline.refuse_message(a_topic, octet_length(m.payload), m.key, m.headers::text[], m.content_type, m.correlation_id,
        coalesce(m.priority, 0), m.due_at, m.idempotency_key)
    from unnest(payloads, keys, headers, content_types, correlation_ids, priorities, due_ats, idempotency_keys)
        as m (payload, key, headers, content_type, correlation_id, priority, due_at, idempotency_key)
    where t.id is null or m.payload is null or octet_length(m.payload) > t.accepts_bytes
        or m.content_type is null or octet_length(m.content_type) not between 1 and 255
        or octet_length(m.key) > 1024
        or (m.priority <> 0 and (m.priority not in (-1, 1) or t.levels = 1))
        or not isfinite(m.due_at)
        or octet_length(m.correlation_id) > 1024
        or octet_length(m.idempotency_key) not between 1 and 1024
        or (m.headers is not null and (cardinality(m.headers::text[]) > 2000 or cardinality(m.headers::text[]) % 2 <> 0
            or array_position(m.headers::text[], null) is not null or octet_length(array_to_string(m.headers::text[], '')) > 65536))
    limit 1;
end $$;

-- The payloads of messages that lie end to end in frames.
create function trunkline.unframe(payloads bytea[], lasts int[], lengths int[]) returns bytea[]
    language sql immutable
as $$
    select array_agg(substring(payloads[m.frame] from (1 + m.upto - m.length)::int for m.length) order by m.n)
    from (
        select f.frame, n, lengths[n] as length, sum(lengths[n]) over (partition by f.frame order by n) as upto
        from generate_subscripts(lasts, 1) f (frame)
        cross join lateral generate_series(coalesce(lasts[f.frame - 1], 0) + 1, lasts[f.frame]) n) m
$$;

-- A batch in a transaction of its own, in frames. The last message of a frame is at lasts in the arrays of messages, which
-- keep, in each partition, the order of the batch; ids are twice their places in it. partitions below zero are turns: the
-- library leaves it to us in which lane messages without a key go. known names offsets of the touched partitions, in their order,
-- that are taken, if the caller knows any.
--
-- Under the locks of its lanes it first relays what is pending and then appends itself. It goes to the outbox instead if a
-- lane is taken and it may not wait, if a large difference is being relayed, or if one of its messages is for later: then
-- ids says which, in the order of the batch. Otherwise ids and offsets follow from what comes back: a message has its id
-- from base_id on and takes the next offset of its partition, whose tail was that of touched; unless holders has the id of another
-- message, which holds its idempotency key. Where the topic has not as many partitions or lanes as the caller thinks, nothing
-- is done. What can be done before the locks are taken is done before.
create function trunkline.append(
    a_topic text, a_partition_count int, a_lane_count int, a_wait boolean, a_largest int, a_known bigint[],
    a_partitions int[], a_lasts int[], a_uptos int[], a_opens boolean[], a_payloads bytea[],
    a_ids bigint[], a_lengths int[], a_keys text[], a_headers text[], a_content_types text[], a_correlation_ids text[],
    a_priorities int[], a_dues text[], a_idempotency_keys text[], a_units bigint[],
    out partition_count int, out ids bigint[], out base_id bigint, out partitions int[], out touched int[], out tails bigint[], out holders bigint[])
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set lock_timeout = '1s'
as $$
declare
    t record;
    home int; size int; turn int; wanted int[]; held int[];
    current_segment int;
    drained boolean := false; repeated boolean;
    frame_partitions int[]; message_partitions int[]; message_ids bigint[];
begin
    if current_setting('transaction_isolation') <> 'read committed' or pg_is_in_recovery() or current_setting('synchronous_commit') in ('off', 'local')
        or current_setting('trunkline.adopted', true) is distinct from current_database() then
        perform trunkline.require_appendable();
    end if;
    select k.id, k.partitions, k.lanes, k.accepts_bytes, i.timeline = trunkline.timeline() as at_home into t
    from trunkline.topic k, trunkline.installation i where k.name = a_topic;
    if not t.at_home then
        perform trunkline.notice_failover();
    end if;
    partition_count := t.partitions;
    if t.partitions <> a_partition_count or t.lanes <> a_lane_count then
        return;
    elsif t.id is null or a_largest > t.accepts_bytes or cardinality(a_lengths) > 500000 or a_priorities is not null or a_dues is not null then
        ids := trunkline.enqueue_frames(a_topic, a_dues is not null, a_lasts, a_payloads, a_ids, a_lengths, a_keys, a_headers, a_content_types,
            a_correlation_ids, a_priorities, a_dues, a_idempotency_keys, a_units);
        if ids is not null then
            return;
        end if;
    end if;

    partitions := a_partitions;
    if a_partitions[1] < 0 then
        -- Messages without a key stay together in one lane: the first that is free.
        select l.lane into home from trunkline.lane l where l.topic = t.id order by l.lane for no key update skip locked limit 1;
        home := coalesce(home, (random() * (t.lanes - 1))::int);
        size := (t.partitions - home + t.lanes - 1) / t.lanes;
        if -a_partitions[1] > size then
            -- Two turns would fall into one partition, and get the same offsets.
            raise 'a batch in % turns does not fit lane % of topic "%", which has % partitions', -a_partitions[1], home, a_topic, size
                using errcode = 'TL003', hint = 'The first turn is the lowest, and there are no more than partitions in each lane.';
        end if;
        turn := (random() * 1000)::int;
        partitions := array(select home + t.lanes * ((turn - p) % size) from unnest(a_partitions) p);
    end if;
    -- What is locked follows from the topic as it is, not from what the caller thinks of it.
    select array_agg(distinct p), array_agg(distinct p % t.partitions % t.lanes) into touched, wanted from unnest(partitions) p;
    base_id := nextval('trunkline.batch_id') << 20;

    if a_wait then
        select array_agg(l.lane), max(l.segment) into held, current_segment
        from (select k.lane, k.segment from trunkline.lane k where k.topic = t.id and k.lane = any (wanted) order by k.lane for no key update) l;
    else
        select array_agg(l.lane), max(l.segment) into held, current_segment
        from (select k.lane, k.segment from trunkline.lane k where k.topic = t.id and k.lane = any (wanted) order by k.lane for no key update skip locked) l;
    end if;
    if cardinality(held) = cardinality(wanted) then
        -- Where no slot has a page, nothing can be waiting.
        drained := pg_relation_size('trunkline.outbox_0') = 0 and pg_relation_size('trunkline.outbox_1') = 0
            and pg_relation_size('trunkline.outbox_2') = 0 and pg_relation_size('trunkline.outbox_3') = 0
            and pg_relation_size('trunkline.delayed') = 0;
        if not drained then
            select d.drained into drained from trunkline.drain(t.id, held, current_segment, 10000, null) d;
        end if;
    end if;
    if not drained then
        base_id := null;
        ids := trunkline.enqueue_frames(a_topic, true, a_lasts, a_payloads, a_ids, a_lengths, a_keys, a_headers, a_content_types,
            a_correlation_ids, a_priorities, a_dues, a_idempotency_keys, a_units);
        return;
    end if;

    frame_partitions := partitions;
    if a_idempotency_keys is not null then
        message_partitions := array(
            select partitions[f] from generate_subscripts(a_lasts, 1) f
            cross join lateral generate_series(coalesce(a_lasts[f - 1], 0) + 1, a_lasts[f]) n order by n);
        message_ids := array(select base_id + i from unnest(a_ids) i);
        select array_agg(nullif(h.holder, h.id) order by h.n), bool_or(h.holder <> h.id) into holders, repeated
        from unnest(trunkline.claim_idempotency_keys(t.id, message_partitions, a_idempotency_keys, message_ids), message_ids)
            with ordinality as h (holder, id, n);
        if repeated then
            -- Those whose key another holds are left out: then each of the others is a frame.
            select array_agg(m.partition order by m.n), array_agg(m.upto order by m.n), array_agg(m.open order by m.n), array_agg(m.payload order by m.n),
                   array_agg(m.id order by m.n), case when a_units is not null then array_agg(m.unit order by m.n) end,
                   array_agg(m.length order by m.n), case when a_keys is not null then array_agg(m.key order by m.n) end,
                   case when a_correlation_ids is not null then array_agg(m.correlation_id order by m.n) end,
                   array_agg(coalesce(m.content_type, a_content_types[1]) order by m.n),
                   case when a_headers is not null then array_agg(m.headers order by m.n) end
            into frame_partitions, a_uptos, a_opens, a_payloads, a_ids, a_units, a_lengths, a_keys, a_correlation_ids, a_content_types, a_headers
            from (
                select k.*, row_number() over w as upto, lead(k.unit) over w is not distinct from k.unit and k.unit is not null as open
                from unnest(message_partitions, trunkline.unframe(a_payloads, a_lasts, a_lengths), a_ids, a_units, a_lengths, a_keys, a_correlation_ids,
                        a_content_types, a_headers, holders)
                    with ordinality as k (partition, payload, id, unit, length, key, correlation_id, content_type, headers, holder, n)
                where k.holder is null
                window w as (partition by k.partition order by k.n)) m;
            a_lasts := array(select n from generate_subscripts(frame_partitions, 1) n order by n);
        end if;
    end if;
    execute format('select trunkline.segment_%s_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)', current_segment)
    into tails
    using touched, a_known, frame_partitions, a_lasts, a_uptos, a_opens, a_payloads, base_id, a_ids, a_units, a_lengths, a_keys, a_correlation_ids, a_content_types, a_headers;
end $$;

-- Looks closely at a batch in frames, and puts it into the outbox if wanted. Returns the ids then, in the order of the batch.
create function trunkline.enqueue_frames(
    topic text, wanted boolean, lasts int[], payloads bytea[], ids bigint[], lengths int[], keys text[], headers text[],
    content_types text[], correlation_ids text[], priorities int[], dues text[], idempotency_keys text[], places_of_units bigint[]) returns bigint[]
    language plpgsql
as $$
declare
    size int := cardinality(lengths);
    t trunkline.topic;
    due_ats timestamptz[];
    units int[];
begin
    if size > 500000 then
        perform trunkline.refuse(format('a batch of %s messages is over the limit of 500000', size), 'TL003', 'Publish several batches.');
    end if;
    select k.* into t from trunkline.topic k where k.name = enqueue_frames.topic;
    select array_agg(m.payload order by m.id), array_agg(m.key order by m.id), array_agg(m.headers order by m.id),
           array_agg(coalesce(m.content_type, content_types[1]) order by m.id), array_agg(m.correlation_id order by m.id),
           array_agg(m.priority order by m.id), case when dues is not null then array_agg(trunkline.due(m.due) order by m.id) end,
           array_agg(m.idempotency_key order by m.id), array_agg((coalesce(m.unit, m.id) / 2)::int order by m.id)
    into payloads, keys, headers, content_types, correlation_ids, priorities, due_ats, idempotency_keys, units
    from unnest(trunkline.unframe(payloads, lasts, lengths), ids, keys, headers, content_types, correlation_ids, priorities, dues, idempotency_keys, places_of_units)
        as m (payload, id, key, headers, content_type, correlation_id, priority, due, idempotency_key, unit);
    perform trunkline.check_batch(topic, t, keys, payloads, headers, content_types, correlation_ids, priorities, due_ats, idempotency_keys);
    if wanted then
        return trunkline.enqueue_all(t, keys, payloads, headers, content_types, correlation_ids, priorities, due_ats, idempotency_keys, units);
    end if;
    return null;
end $$;

-- For people and programs in any language: one message, in the caller's transaction. Returns its id.
create function trunkline.publish(
    topic text, payload bytea, key text default null, headers jsonb default null, content_type text default 'application/octet-stream',
    correlation_id text default null, priority int default 0, deliver_at timestamptz default null, idempotency_key text default null)
    returns bigint
    language plpgsql
as $$
declare
    pairs text[];
begin
    if jsonb_typeof(headers) <> 'object' or exists (
        select from jsonb_each(case when jsonb_typeof(headers) = 'object' then headers end) h where jsonb_typeof(h.value) <> 'string') then
        perform trunkline.refuse('headers are names and values that are text', 'TL003', 'Turn other values into text.');
    end if;
    if headers is not null then
        pairs := array(select unnest(array[h.key, h.value]) from jsonb_each_text(headers) h);
    end if;
    return trunkline.enqueue(topic, payload, key, pairs, content_type, correlation_id, priority, deliver_at, idempotency_key);
end $$;

create function trunkline.publish(
    topic text, payload text, key text default null, headers jsonb default null, content_type text default 'text/plain',
    correlation_id text default null, priority int default 0, deliver_at timestamptz default null, idempotency_key text default null)
    returns bigint
    language plpgsql
as $$
begin
    return trunkline.publish(topic, convert_to(payload, 'UTF8'), key, headers, content_type, correlation_id, priority, deliver_at, idempotency_key);
end $$;

create function trunkline.publish(
    topic text, payload jsonb, key text default null, headers jsonb default null, content_type text default 'application/json',
    correlation_id text default null, priority int default 0, deliver_at timestamptz default null, idempotency_key text default null)
    returns bigint
    language plpgsql
as $$
begin
    return trunkline.publish(topic, convert_to(payload::text, 'UTF8'), key, headers, content_type, correlation_id, priority, deliver_at, idempotency_key);
end $$;
