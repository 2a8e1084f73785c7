-- For programs that have nothing but a PostgreSQL driver: messages as JSON, in and out, and relay and upkeep without a process of Trunkline's.

-- ---- JSON ----

-- What is wrong with a message that is to be published, as JSON; null: nothing that can be seen without its topic.
create function trunkline.flaw_of(message jsonb) returns text
    language plpgsql immutable
as $$
declare
    odd text;
begin
    if jsonb_typeof(message) is distinct from 'object' then
        return 'it is no object';
    end if;
    select k into odd from jsonb_object_keys(message) k
    where k not in ('payload', 'text', 'base64', 'key', 'headers', 'contentType', 'correlationId', 'priority', 'delay', 'deliverAt', 'idempotencyKey') limit 1;
    if found then
        return format('it has a field "%s", which no message has', odd);
    end if;
    select f.key into odd from jsonb_each(message) f where f.key not in ('payload', 'headers') and jsonb_typeof(f.value) not in ('string', 'null') limit 1;
    if found then
        return format('its %s is not text in quotes', odd);
    elsif (message ? 'payload')::int + num_nonnulls(message ->> 'text', message ->> 'base64') <> 1 then
        return 'it has to have one of payload (any JSON), text and base64';
    elsif num_nonnulls(message ->> 'delay', message ->> 'deliverAt') > 1 then
        return 'it has a delay, and a time at which it is due';
    elsif message ->> 'priority' not in ('LOW', 'NORMAL', 'HIGH') then
        return format('its priority is "%s", not LOW, NORMAL or HIGH', message ->> 'priority');
    elsif jsonb_typeof(message -> 'headers') not in ('object', 'null') or jsonb_path_exists(message, '$.headers.* ? (@.type() != "string")') then
        return 'its headers are not names and values that are text';
    end if;
    return null;
end $$;

-- One message, an object, or several, an array of them, in the caller's transaction: all or none. Their fields are those of HTTP. Returns their ids.
create function trunkline.publish_json(topic text, messages jsonb) returns bigint[]
    language plpgsql
as $$
declare
    bad record;
    payloads bytea[]; keys text[]; headers text[]; types text[]; correlation_ids text[]; priorities int[]; dues text[]; idempotency_keys text[];
begin
    if jsonb_typeof(messages) is distinct from 'array' then
        messages := jsonb_build_array(messages);
    elsif messages = '[]' then
        return '{}';
    end if;
    select m.n, trunkline.flaw_of(m.message) as flaw into bad
    from jsonb_array_elements(messages) with ordinality as m (message, n)
    where trunkline.flaw_of(m.message) is not null order by m.n limit 1;
    if found then
        perform trunkline.refuse(format('message %s can not be published: %s', bad.n, bad.flaw), 'TL003', 'None of them was. For example {"key": "k", "payload": {"n": 1}}.');
    end if;
    begin
        select array_agg(case
                   when m ? 'payload' then convert_to((m -> 'payload')::text, 'UTF8')
                   when m ->> 'text' is not null then convert_to(m ->> 'text', 'UTF8')
                   else decode(m ->> 'base64', 'base64') end order by n),
               array_agg(m ->> 'key' order by n),
               array_agg(case when m ->> 'headers' is not null then
                   array(select unnest(array[h.key, h.value]) from jsonb_each_text(m -> 'headers') h)::text end order by n),
               array_agg(coalesce(m ->> 'contentType', case
                   when m ? 'payload' then 'application/json'
                   when m ->> 'text' is not null then 'text/plain'
                   else 'application/octet-stream' end) order by n),
               array_agg(m ->> 'correlationId' order by n),
               array_agg(array_position('{LOW,NORMAL,HIGH}', m ->> 'priority') - 2 order by n),
               array_agg(coalesce(trunkline.due('in ' || (m ->> 'delay')), (m ->> 'deliverAt')::timestamptz)::text order by n),
               array_agg(m ->> 'idempotencyKey' order by n)
        into payloads, keys, headers, types, correlation_ids, priorities, dues, idempotency_keys
        from jsonb_array_elements(messages) with ordinality as e (m, n);
    exception when data_exception then
        perform trunkline.refuse(format('messages can not be read: %s', sqlerrm), 'TL003',
            'None was published. base64 is base64, a delay as PT30S or 30 seconds, deliverAt as 2026-11-17T08:00:00Z.');
    end;
    return trunkline.publish_all(topic, payloads, keys, headers, types, correlation_ids, priorities, dues, idempotency_keys);
end $$;

-- As pop, as one JSON document whose fields are those of HTTP. Null: there is nothing to be had.
create function trunkline.pop_json(a_group text, a_topic text, a_max int default 100, a_lease interval default '30 seconds') returns jsonb
    language sql volatile
as $$
    select jsonb_build_object('token', min(p.token), 'epoch', min(p.epoch), 'expiresAt', min(p.expires_at), 'messages', jsonb_agg(jsonb_strip_nulls(
        jsonb_build_object('partition', p.partition, 'priority', (array['LOW', 'NORMAL', 'HIGH'])[p.priority + 2], 'offset', p."offset", 'id', p.message_id,
            'key', p.key, 'headers', jsonb_object(p.headers), 'contentType', p.content_type, 'correlationId', p.correlation_id,
            'publishedAt', p.published_at, 'appendedAt', p.appended_at, 'attempt', p.attempt, 'text', t.text,
            'base64', case when t.text is null then translate(encode(p.payload, 'base64'), E'\n', '') end)) order by p."offset"))
    from trunkline.pop(a_group, a_topic, a_max, a_lease) p
    cross join lateral (select trunkline.as_text(p.payload) as text) t
    having count(*) > 0
$$;

-- ---- relay and upkeep ----

-- Where it is told that something was appended. What is told: who says so, and then the topics, each on a line; none: any topic; a tab: nothing, somebody tries
-- whether he hears himself.
create function trunkline.channel() returns text
    language sql immutable parallel safe
    return 'trunkline_' || 'trunkline';

-- These are procedures because each run is a transaction of its own: in the caller's, the locks of lanes would be held for as long as he likes. To commit first
-- is to be refused by PostgreSQL in somebody's transaction before anything is done.

-- One look, and one run for each topic that has something; and tells who listens. With a snapshot and a time: that still has something of what was committed,
-- or due, then, and for that it waits while somebody else appends. A topic that fails does not keep the others from being relayed: it is added to the failed,
-- which are left out, and what has failed is told, with the first code. Adds to how many messages got a place; found_some: whether there was a topic to relay.
create procedure trunkline.relay_pass(
    inout relayed bigint, inout failed int[], inout trouble text, inout code text, inout found_some boolean,
    a_upto pg_snapshot default null, a_due timestamptz default null)
    language plpgsql
as $$
declare
    waiting int[]; appended int[] := '{}';
    number int;
    moved bigint;
    names text;
begin
    commit;
    select array(select t from unnest(p.topics) t where t <> all (failed)) into waiting from trunkline.pending(a_upto, a_due) p;
    found_some := waiting <> '{}';
    foreach number in array waiting loop
        begin
            moved := case when a_upto is null then trunkline.relay(number) else trunkline.relay_waiting(number, a_upto, a_due) end;
        exception when others then
            moved := 0;
            failed := failed || number;
            code := coalesce(code, sqlstate);
            trouble := concat_ws('; ', trouble, format('topic "%s": %s', (select t.name from trunkline.topic t where t.id = number), sqlerrm));
        end;
        commit;
        if moved > 0 then
            relayed := relayed + moved;
            appended := appended || number;
        end if;
    end loop;
    if appended <> '{}' then
        select string_agg(t.name, E'\n') into names from trunkline.topic t where t.id = any (appended);
        perform pg_notify(trunkline.channel(), E'sql\n' || case when octet_length(names) <= 7500 then names else '' end);
    end if;
    commit;
end $$;

-- Gives a place in the log to everything that is committed and due, and tells who listens. Returns to how many messages. What others publish meanwhile is not
-- waited for: with much of it there would be no end. Who appends to a lane is waited for, a few seconds.
create procedure trunkline.relay_now(inout relayed bigint default 0)
    language plpgsql
as $$
declare
    upto pg_snapshot; due timestamptz;
    failed int[] := '{}'; trouble text; code text;
    found_some boolean;
begin
    commit;
    relayed := 0;
    upto := pg_current_snapshot();
    due := clock_timestamp();
    call trunkline.relay_pass(relayed, failed, trouble, code, found_some);
    while found_some loop
        call trunkline.relay_pass(relayed, failed, trouble, code, found_some, upto, due);
    end loop;
    if trouble is not null then
        raise '%', trouble using errcode = code;
    end if;
end $$;

-- Sweeps are counted, and are to come about once a minute.
alter table trunkline.upkeep_turn add column pruned_at timestamptz;

create function trunkline.take_pruning() returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    update trunkline.upkeep_turn t set pruned_at = clock_timestamp()
    where t.pruned_at is null or t.pruned_at not between clock_timestamp() - interval '1 minute' and clock_timestamp();
    return found;
end $$;

-- What a backend is called that does the upkeep.
create function trunkline.this_backend() returns text
    language sql stable
    return 'sql ' || pg_backend_pid();

-- Every step of upkeep that is needed, if nobody else has the turn, which it keeps. What is locked is left for the next time; a step that fails does not keep
-- the others from being done. Returns how many did something, and what has failed, with the first code.
create procedure trunkline.upkeep_pass(inout done int, inout trouble text, inout code text)
    language plpgsql
as $$
declare
    steps text[]; topics int[];
    did int;
begin
    commit;
    done := 0;
    trouble := null;
    code := null;
    if not trunkline.take_turn(trunkline.this_backend()) then
        return;
    end if;
    commit;
    begin
        select array_agg(s.step), array_agg(s.topic) into steps, topics
        from (
            select 'roll' as step, r as topic from trunkline.topics_to_roll() r
            union all
            select 'trim', t.id from trunkline.topic t
            where (select g.opened_at from trunkline.segment g where g.topic = t.id order by g.id offset 1 limit 1)
                <= clock_timestamp() - least(t.retention, t.unheard_retention)
            union all
            select k, null from unnest(array['advance outbox', 'match topics', 'watch groups']) k
            union all
            select k, null from unnest(array['clear outbox', 'prune marks', 'rotate idempotency', 'rotate progress', 'sweep groups']) k
            where (select trunkline.take_pruning())) s;
    exception when others then
        code := sqlstate;
        trouble := 'what there is to do: ' || sqlerrm;
    end;
    commit;
    for i in 1 .. coalesce(cardinality(steps), 0) loop
        loop
            begin
                did := trunkline.upkeep(steps[i], topics[i]);
            exception
                when lock_not_available then
                    did := null;
                when others then
                    did := null;
                    code := coalesce(code, sqlstate);
                    trouble := concat_ws('; ', trouble, steps[i] || ': ' || sqlerrm);
            end;
            commit;
            done := done + (did is not null)::int;
            exit when did is null or steps[i] <> 'trim';
        end loop;
    end loop;
end $$;

-- Every step of upkeep that is needed, once, if nobody else has the turn. Returns how many did something.
create procedure trunkline.upkeep_now(inout done int default 0)
    language plpgsql
as $$
declare
    trouble text; code text;
begin
    commit;
    call trunkline.upkeep_pass(done, trouble, code);
    perform trunkline.leave_turn(trunkline.this_backend(), false);
    commit;
    if trouble is not null then
        raise '%', trouble using errcode = code;
    end if;
end $$;

-- Relays, and does the upkeep when it has the turn, for so long: for who has only a cron job. It looks whenever the pause is over. A topic or a step of upkeep
-- that fails is warned of, and tried again after a while: who has no other process needs the rest all the more.
create procedure trunkline.run(a_for interval default '1 minute', a_pause interval default '100 milliseconds')
    language plpgsql
as $$
declare
    until timestamptz := clock_timestamp() + a_for;
    kept_at timestamptz := '-infinity';
    relayed bigint; done int;
    failed int[]; found_some boolean;
    trouble text; code text;
begin
    commit;
    if a_for is null or a_for not between interval '0' and interval '1 day' or a_pause is null or a_pause not between interval '1 millisecond' and interval '1 minute' then
        perform trunkline.refuse(format('to run for %s with pauses of %s is not possible', coalesce(a_for::text, 'null'), coalesce(a_pause::text, 'null')), 'TL008',
            'Run for up to a day, with pauses of a millisecond to a minute.');
    end if;
    loop
        if clock_timestamp() not between kept_at and kept_at + interval '5 seconds' then
            failed := '{}';
        end if;
        relayed := 0;
        trouble := null;
        call trunkline.relay_pass(relayed, failed, trouble, code, found_some);
        if trouble is not null then
            raise warning 'relay: %', trouble;
        end if;
        if clock_timestamp() not between kept_at and kept_at + interval '5 seconds' then
            call trunkline.upkeep_pass(done, trouble, code);
            if trouble is not null then
                raise warning 'upkeep: %', trouble;
            end if;
            kept_at := clock_timestamp();
        end if;
        exit when clock_timestamp() >= until;
        if relayed = 0 then
            perform pg_sleep(extract(epoch from least(a_pause, until - clock_timestamp())));
            commit;
        end if;
    end loop;
    perform trunkline.leave_turn(trunkline.this_backend(), false);
    commit;
end $$;
