-- Topics. Names are data; tables are named by number.

create function trunkline.check_name(what text, name text, code text default 'TL005') returns void
    language plpgsql
as $$
begin
    if name is null or char_length(name) not between 1 and 255 then
        raise 'a % has 1 to 255 characters, this one has %', what, coalesce(char_length(name), 0)
            using errcode = code, hint = 'Choose another name.';
    elsif name ~ '[\u0001-\u001f\u007f-\u009f]' then
        raise 'a % has no control characters', what using errcode = code, hint = 'Remove them.';
    end if;
end $$;

create function trunkline.create_topic(
    name text, semantics text default 'QUEUE', ordering text default 'ORDERED', partitions int default 16, lanes int default null,
    levels int default null, namespace text default null, task text default null, retention interval default '7 days',
    max_payload_bytes int default 1048576, segment_bytes bigint default 268435456, segment_age interval default '1 hour',
    hard_cap interval default '30 days', zombie_ttl interval default '7 days', unheard_retention interval default '24 hours',
    unheard text default 'KEEP', tracking text default 'OFFSET_WATERMARK') returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    topic_id int;
    size int;
begin
    perform trunkline.check_name('topic name', name);
    perform trunkline.check_name('namespace', namespace) where namespace is not null;
    perform trunkline.check_name('task', task) where task is not null;
    -- Topics and wildcards are created one at a time, so that neither misses the other.
    perform from trunkline.installation for no key update;
    if exists (select from trunkline.topic t where t.name = create_topic.name) then
        raise 'there is a topic "%" already', name using errcode = 'TL006', hint = 'Alter it, or choose another name.';
    end if;
    begin
        insert into trunkline.topic
            (name, namespace, task, semantics, ordering, partitions, lanes, levels, retention, max_payload_bytes, accepts_bytes,
             segment_bytes, segment_age, hard_cap, zombie_ttl, unheard_retention, unheard, tracking)
        values (name, namespace, task, semantics, ordering, partitions, coalesce(lanes, least(4, partitions)),
            coalesce(levels, case ordering when 'THROUGHPUT' then 3 else 1 end), retention, max_payload_bytes,
            case when unheard = 'REFUSE' and semantics = 'PUB_SUB' then -1 else max_payload_bytes end, segment_bytes, segment_age, hard_cap, zombie_ttl,
            unheard_retention, unheard, tracking)
        returning id, topic.partitions * topic.levels into topic_id, size;
    exception when check_violation or not_null_violation then
        raise 'topic "%" can not be created: %', name, sqlerrm using errcode = 'TL005',
            hint = 'Partitions 1 to 1024, lanes 1 to the number of partitions, levels 1 or 3, payloads up to 256 MiB, durations above zero.';
    end;
    insert into trunkline.lane (topic, lane, segment)
    select topic_id, l, s.id
    from trunkline.create_segment(topic_id, array_fill(0::bigint, array[size]), array_fill('-infinity'::timestamptz, array[size])) s (id),
        generate_series(0, coalesce(lanes, least(4, partitions)) - 1) l;
    insert into trunkline.mark (topic, lane, snapshot, due)
    select topic_id, l.lane, '1:1:', '-infinity' from trunkline.lane l where l.topic = topic_id;
    perform trunkline.match_topics(topic_id);
    return topic_id;
end $$;

-- Null leaves a setting as it is. Partitions, lanes, levels and ordering stay for life. A queue that becomes pub/sub keeps its group; a pub/sub topic
-- becomes a queue if it has one group at most, which is called 'shared' from then on. Processes that serve it go on.
create function trunkline.alter_topic(
    name text, semantics text default null, namespace text default null, task text default null, retention interval default null,
    max_payload_bytes int default null, segment_bytes bigint default null, segment_age interval default null,
    hard_cap interval default null, zombie_ttl interval default null, unheard_retention interval default null, unheard text default null,
    tracking text default null) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    had trunkline.topic;
begin
    perform trunkline.check_name('namespace', namespace) where namespace is not null;
    perform trunkline.check_name('task', task) where task is not null;
    perform from trunkline.installation for no key update;
    select t.* into had from trunkline.topic t where t.name = alter_topic.name for update;
    if had.id is null then
        perform trunkline.refuse(format('there is no topic "%s"', name), 'TL001', 'Create it with trunkline.create_topic(...).');
    end if;
    if tracking <> had.tracking then
        -- What was recorded up to now is remembered as it was to be.
        perform trunkline.fold_progress(0), trunkline.fold_progress(1);
    end if;
    update trunkline.topic t
    set semantics = coalesce(alter_topic.semantics, t.semantics), namespace = coalesce(alter_topic.namespace, t.namespace),
        task = coalesce(alter_topic.task, t.task), retention = coalesce(alter_topic.retention, t.retention),
        max_payload_bytes = coalesce(alter_topic.max_payload_bytes, t.max_payload_bytes),
        segment_bytes = coalesce(alter_topic.segment_bytes, t.segment_bytes), segment_age = coalesce(alter_topic.segment_age, t.segment_age),
        hard_cap = coalesce(alter_topic.hard_cap, t.hard_cap), zombie_ttl = coalesce(alter_topic.zombie_ttl, t.zombie_ttl),
        unheard_retention = coalesce(alter_topic.unheard_retention, t.unheard_retention), unheard = coalesce(alter_topic.unheard, t.unheard),
        tracking = coalesce(alter_topic.tracking, t.tracking)
    where t.id = had.id;
    if semantics = 'QUEUE' and had.semantics <> 'QUEUE' then
        perform trunkline.share_group(had.id);
    end if;
    perform trunkline.open_or_close(had.id);
    perform trunkline.match_topics(had.id);
exception when check_violation then
    raise 'topic "%" can not be altered: %', name, sqlerrm using errcode = 'TL005', hint = 'See the limits of create_topic.';
end $$;

-- For who drops them. While it waits for one it has none: who reads several, in whatever order, and holds another, goes on.
create function trunkline.lock_segments(a_topic int) returns void
    language plpgsql
as $$
declare
    awaited int;
    each int;
    latest timestamptz := clock_timestamp() + current_setting('lock_timeout')::interval;
begin
    loop
        begin
            if awaited is not null then
                execute format('lock table trunkline.segment_%s in access exclusive mode', awaited);
            end if;
            for each in select s.id from trunkline.segment s where s.topic = a_topic order by s.id desc loop
                awaited := each;
                execute format('lock table trunkline.segment_%s in access exclusive mode nowait', each);
            end loop;
            return;
        exception when lock_not_available then
            if clock_timestamp() >= latest then
                raise;
            end if;
        end;
    end loop;
end $$;

-- Drops a topic with all its messages. What is still in the outbox for it counts as relayed.
create function trunkline.drop_topic(name text) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set lock_timeout = '5s'
as $$
declare
    topic_id int;
begin
    perform from trunkline.installation for no key update;
    select t.id into topic_id from trunkline.topic t where t.name = drop_topic.name for update;
    if topic_id is null then
        perform trunkline.refuse(format('there is no topic "%s"', name), 'TL001', 'It may have been dropped already.');
    end if;
    perform from trunkline.lane l where l.topic = topic_id order by l.lane for update;
    perform trunkline.lock_segments(topic_id);
    perform trunkline.remove_segment(s.id) from trunkline.segment s where s.topic = topic_id;
    delete from trunkline.lane l where l.topic = topic_id;
    delete from trunkline.mark m where m.topic = topic_id;
    delete from trunkline.delayed d where d.topic = topic_id;
    update trunkline.subscription s set status = 'CANCELLED', status_since = clock_timestamp() where s.topic = topic_id and s.status <> 'CANCELLED';
    delete from trunkline.topic t where t.id = topic_id;
end $$;
