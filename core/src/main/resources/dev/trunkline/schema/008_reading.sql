-- The log for people.

-- The text of bytes, or null if they are not text.
create function trunkline.as_text(payload bytea) returns text
    language plpgsql immutable
as $$
begin
    return convert_from(payload, 'UTF8');
exception when others then
    return null;
end $$;

create function trunkline.as_json(payload bytea) returns jsonb
    language plpgsql immutable
as $$
begin
    return convert_from(payload, 'UTF8')::jsonb;
exception when others then
    return null;
end $$;

create type trunkline.readable_message as (
    topic text, partition int, priority int, "offset" bigint, id bigint, key text, published_at timestamptz, appended_at timestamptz,
    correlation_id text, headers jsonb, content_type text, json jsonb, text text, hex text);

-- Messages of a segment; JSON payloads as jsonb, text as text, the rest as hex.
create function trunkline.segment_messages(a_segment int, a_partition int default null, from_offset bigint default 0, most int default null)
    returns setof trunkline.readable_message
    language plpgsql stable
as $$
begin
    return query execute format($q$
        select t.name, m.partition %% t.partitions, case m.partition / t.partitions when 0 then 0 when 1 then 1 else -1 end, m."offset", m.id,
               m.key, m.published_at, m.appended_at, m.correlation_id, jsonb_object(m.headers), m.content_type, p.json,
               case when p.json is null then p.text end, case when p.text is null then encode(m.payload, 'hex') end
        from trunkline.segment_%1$s f
        cross join lateral (
            select f.partition, f.last_offset - cardinality(f.ids) + i as "offset", f.base_id + f.ids[i] as id, f.keys[i] as key,
                   f.appended_at - coalesce(f.waits[i], 0) * interval '1 microsecond' as published_at, f.appended_at,
                   f.correlation_ids[i] as correlation_id, f.headers[i]::text[] as headers,
                   coalesce(f.content_types[i], f.content_types[1]) as content_type,
                   substring(f.payloads from (1 + sum(f.lengths[i]) over (order by i) - f.lengths[i])::int for f.lengths[i]) as payload
            from generate_series(1, cardinality(f.ids)) i) m
        join trunkline.segment g on g.id = %1$s
        join trunkline.topic t on t.id = g.topic
        cross join lateral (
            select case when m.content_type ~* '[/+]json' then trunkline.as_json(m.payload) end as json,
                   case when m.content_type ~* '^text/|[/+](json|xml)' then trunkline.as_text(m.payload) end as text) p
        where ($1 is null or f.partition = $1) and f.last_offset >= $2 and m."offset" >= $2
        order by m.partition, m."offset"
        limit $3 $q$, a_segment)
    using a_partition, from_offset, most;
end $$;

-- Reads whole segments: name the topic. For one place in a large log use trunkline.read.
create view trunkline.messages as
    select m.*
    from trunkline.topic t
    join trunkline.segment s on s.topic = t.id
    cross join lateral trunkline.segment_messages(s.id) m;

-- At most so many messages of one partition, from an offset on.
create function trunkline.read(topic text, partition int, from_offset bigint default 0, most int default 100)
    returns setof trunkline.readable_message
    language plpgsql stable
as $$
declare
    t trunkline.topic;
    g record;
    got int;
begin
    select k.* into t from trunkline.topic k where k.name = read.topic;
    if t.id is null then
        perform trunkline.refuse(format('there is no topic "%s"', topic), 'TL001', 'Look at trunkline.topics for the names.');
    elsif partition not between 0 and t.partitions * t.levels - 1 then
        perform trunkline.refuse(format('topic "%s" has no partition %s', topic, partition), 'TL008', format('It has 0 to %s.', t.partitions * t.levels - 1));
    end if;
    for g in
        select s.id
        from trunkline.segment s
        where s.topic = t.id
          and s.id >= coalesce((select max(k.id) from trunkline.segment k where k.topic = t.id and k.bases[read.partition + 1] <= from_offset), 0)
        order by s.id
    loop
        return query select m.* from trunkline.segment_messages(g.id, partition, from_offset, most) m;
        get diagnostics got = row_count;
        most := most - got;
        exit when most <= 0;
    end loop;
end $$;

create view trunkline.topics as
    select t.name, t.namespace, t.task, t.semantics, t.ordering, t.partitions, t.lanes, t.levels, t.retention, t.max_payload_bytes,
           t.segment_bytes, t.segment_age, t.created_at, count(s.id) as segments, sum(pg_total_relation_size(r.relation)) as bytes
    from trunkline.topic t
    left join trunkline.segment s on s.topic = t.id
    left join lateral (select to_regclass(format('trunkline.segment_%s', s.id)) as relation) r on true
    group by t.id;

-- The first kept offset and the end of every partition of a topic; partitions of further priority levels follow.
create function trunkline.bounds(a_topic int, out firsts bigint[], out ends bigint[])
    language plpgsql stable
as $$
declare
    current_segment int;
begin
    select s.bases into firsts from trunkline.segment s where s.topic = a_topic order by s.id limit 1;
    select max(s.id) into current_segment from trunkline.segment s where s.topic = a_topic;
    execute format($q$
        select array_agg(coalesce(l.last_offset + 1, g.bases[p + 1]) order by p)
        from trunkline.segment g
        cross join generate_series(0, cardinality(g.bases) - 1) p
        left join lateral (
            select s.last_offset from trunkline.segment_%1$s s where s.partition = p order by s.last_offset desc limit 1) l on true
        where g.id = %1$s $q$, current_segment)
    into ends;
end $$;

-- Where the strands of a topic end. Null: a page is damaged in which its last frame may lie, and nobody can say.
create function trunkline.readable_ends(a_topic int) returns bigint[]
    language plpgsql stable
as $$
declare
    ends bigint[];
    current_segment int;
    known bigint[];
    its_end bigint;
begin
    return (trunkline.bounds(a_topic)).ends;
exception when data_corrupted then
    select s.id, s.bases into current_segment, known from trunkline.segment s where s.topic = a_topic order by s.id desc limit 1;
    for strand in 0 .. cardinality(known) - 1 loop
        begin
            execute format('select s.last_offset + 1 from trunkline.segment_%s s where s.partition = $1 order by s.last_offset desc limit 1', current_segment)
            into its_end using strand;
            its_end := coalesce(its_end, known[strand + 1]);
        exception when data_corrupted then
            its_end := null;
        end;
        ends[strand + 1] := its_end;
    end loop;
    return ends;
end $$;

-- The first kept offset of a partition that was appended at that time or later, else the end. Times never run back
-- within a partition, so the place is found by halving.
create function trunkline.offset_at(a_topic int, a_partition int, at timestamptz) returns bigint
    language plpgsql stable
as $$
declare
    place int;
    low bigint; high bigint;
    middle record;
begin
    -- The last segment opened before that time holds it, or it is the base of the next one.
    select s.id, s.bases[a_partition + 1] into place, low
    from trunkline.segment s where s.topic = a_topic and s.times[a_partition + 1] < at order by s.id desc limit 1;
    if place is null then
        return (select s.bases[a_partition + 1] from trunkline.segment s where s.topic = a_topic order by s.id limit 1);
    end if;
    execute format('select coalesce(max(s.last_offset) + 1, $2) from trunkline.segment_%s s where s.partition = $1', place)
    into high using a_partition, low;
    while low < high loop
        execute format('select s.last_offset, s.last_offset - cardinality(s.ids) + 1 as first_offset, s.appended_at
            from trunkline.segment_%s s where s.partition = $1 and s.last_offset >= $2 order by s.last_offset limit 1', place)
        into middle using a_partition, (low + high) / 2;
        if middle.appended_at < at then
            low := middle.last_offset + 1;
        else
            high := middle.first_offset;
        end if;
    end loop;
    return low;
end $$;

create function trunkline.set_unconfigured_topics(choice text) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    update trunkline.installation set unconfigured_topics = choice;
exception when check_violation then
    raise 'unconfigured topics are REFUSE or QUEUE, not "%"', choice using errcode = 'TL005', hint = 'Choose one.';
end $$;
