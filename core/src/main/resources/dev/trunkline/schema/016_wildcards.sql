-- Groups that subscribe to topics by what they are called, those to come included; and groups that want some keys of a topic only.

-- ---- wildcards ----

-- Who makes a topic and who makes a wildcard lock the installation, so that neither misses the other. A topic that is found later is read from
-- the time at which the wildcard was made to begin, whenever it is found.
create table trunkline.wildcard (
    id          int generated always as identity primary key,
    group_name  text collate "C" not null,
    namespace   text collate "C",
    task        text collate "C",
    -- As it was given, with * and ?; and as a pattern of LIKE.
    name        text collate "C",
    name_like   text collate "C",
    mode        text not null check (mode in ('HANDLER', 'PULL')),
    start_mode  text not null check (start_mode in ('NOW', 'BEGINNING', 'TIMESTAMP')),
    start_at    timestamptz,
    dead_after  interval,
    attempts    int,
    stop_key    boolean,
    -- The most messages of history, of each topic.
    bound       bigint,
    created_at  timestamptz not null default clock_timestamp(),
    unique nulls not distinct (group_name, namespace, task, name),
    check (num_nonnulls(namespace, task, name) > 0)
);

-- A pattern of LIKE for one with * and ?. A backslash takes what follows as it is.
create function trunkline.like_of(pattern text) returns text
    language plpgsql immutable
as $$
begin
    if pattern = '' or pattern ~ '(^|[^\\])(\\\\)*\\$' then
        perform trunkline.refuse(format('"%s" is no pattern of topic names', pattern), 'TL008',
            'Use * for any characters, ? for one, and a backslash before one of these, or before itself, if it is meant as it is.');
    end if;
    return (
        select string_agg(
            case
                when m[1] like '\\_' then case when substr(m[1], 2) in ('%', '_', '\') then m[1] else substr(m[1], 2) end
                when m[1] = '*' then '%'
                when m[1] = '?' then '_'
                when m[1] in ('%', '_') then '\' || m[1]
                else m[1]
            end, '' order by n)
        from regexp_matches(pattern, '\\.|.', 'g') with ordinality as k (m, n));
end $$;

-- Whether a wildcard is for a topic. Queues have one group, and are nobody else's.
create function trunkline.matches(w trunkline.wildcard, t trunkline.topic) returns boolean
    language sql immutable
    return t.semantics = 'PUB_SUB' and (w.namespace is null or w.namespace = t.namespace) and (w.task is null or w.task = t.task)
        and (w.name is null or t.name like w.name_like);

-- Wildcards whose groups have no subscription to a topic that they are for; of each group the one that says most. A subscription that
-- was cancelled since the wildcard was made is not made again.
create view trunkline.unmatched as
    select distinct on (t.id, w.group_name) t.id as topic, w.id as wildcard
    from trunkline.wildcard w
    join trunkline.topic t on trunkline.matches(w, t)
    where not exists (
        select from trunkline.subscription s
        where s.group_name = w.group_name and s.topic = t.id and (s.status <> 'CANCELLED' or s.status_since >= w.created_at))
    order by t.id, w.group_name, w.name is null, w.namespace is null, w.task is null, length(w.name) desc, w.id;

-- Subscribes the groups of wildcards that have yet to be, to one topic or to all; who calls it has locked the installation. Returns how many.
create function trunkline.match_topics(a_topic int default null, a_wildcard int default null) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    u record;
    made int := 0;
begin
    for u in
        select w.*, t.name as topic_name
        from trunkline.unmatched k
        join trunkline.wildcard w on w.id = k.wildcard
        join trunkline.topic t on t.id = k.topic
        where k.topic = coalesce(a_topic, k.topic) and k.wildcard = coalesce(a_wildcard, k.wildcard)
        order by k.topic, w.id
    loop
        -- To begin now is to begin when the wildcard was made, for what is found after that.
        if u.start_mode = 'NOW' and a_wildcard is null then
            u.start_at := coalesce(u.start_at, u.created_at);
        end if;
        if u.mode = 'PULL' then
            perform trunkline.subscribe_pull(u.group_name, u.topic_name, u.start_mode, u.attempts, u.stop_key, u.start_at);
        else
            perform trunkline.subscribe(u.group_name, u.topic_name, u.start_mode, u.mode, u.start_at, null, u.dead_after, null, u.bound);
        end if;
        made := made + 1;
    end loop;
    return made;
end $$;

-- Subscribes a group to all topics of a namespace, of a task, with a name like that, or with several of these; those to come included. What the
-- group has a subscription to already goes on as it is. The first call decides where it begins.
create function trunkline.subscribe_wildcard(
    a_group text, a_namespace text default null, a_task text default null, a_name text default null, a_start text default null,
    a_at timestamptz default null, a_mode text default 'HANDLER', a_dead_after interval default null, a_attempts int default 5,
    a_stop_key boolean default true, a_bound bigint default null) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    how text := coalesce(a_start, (select i.default_start from trunkline.installation i));
    made int;
begin
    perform trunkline.check_name('namespace', a_namespace) where a_namespace is not null;
    perform trunkline.check_name('task', a_task) where a_task is not null;
    perform trunkline.check_name('pattern of topic names', a_name) where a_name is not null;
    if coalesce(a_group, '') = '' then
        perform trunkline.refuse('a group of several topics has a name', 'TL008', 'Name it.');
    end if;
    perform trunkline.check_name('group name', a_group, 'TL008');
    if a_group = 'shared' then
        perform trunkline.refuse('"shared" is the group of a queue, and wildcards find pub/sub topics', 'TL008', 'Name the group otherwise.');
    elsif num_nonnulls(a_namespace, a_task, a_name) = 0 then
        perform trunkline.refuse('which topics?', 'TL008', 'Give a namespace, a task, a pattern of names, or several of these.');
    elsif a_mode is null or a_mode not in ('HANDLER', 'PULL') then
        perform trunkline.refuse(format('a group can not be served by "%s"', a_mode), 'TL008', 'Use HANDLER or PULL.');
    elsif a_dead_after <= interval '0' then
        perform trunkline.refuse(format('a group is not dead after %s', a_dead_after), 'TL008', 'Use more than zero.');
    elsif a_mode = 'PULL' and (a_attempts is null or a_attempts not between 1 and 1000) then
        perform trunkline.refuse(format('a message can not be tried %s times', a_attempts), 'TL008', 'Use 1 to 1000 attempts.');
    elsif a_mode = 'PULL' and a_bound is not null then
        perform trunkline.refuse('a bound on history is for groups with handlers', 'TL008', 'Who pulls begins at a time, or moves the group with trunkline.seek.');
    elsif how in ('OFFSET', 'MESSAGE') then
        perform trunkline.refuse(format('to begin at a %s is for one topic only', lower(how)), 'TL008', 'Begin NOW, at the BEGINNING, or at a time.');
    end if;
    perform trunkline.check_start(how, a_at, null);
    perform trunkline.check_bound(a_bound);
    if a_at > clock_timestamp() then
        perform trunkline.refuse(format('%s is yet to come', a_at), 'TL008', 'Start NOW, or at a time that has passed.');
    end if;
    perform from trunkline.installation for no key update;
    insert into trunkline.wildcard (group_name, namespace, task, name, name_like, mode, start_mode, start_at, dead_after, attempts, stop_key, bound)
    values (a_group, a_namespace, a_task, a_name, trunkline.like_of(a_name), a_mode, how, a_at, a_dead_after, a_attempts, a_stop_key, a_bound)
    on conflict do nothing returning id into made;
    if made is not null then
        perform trunkline.match_topics(null, made);
        return made;
    end if;
    select w.id into strict made from trunkline.wildcard w
    where w.group_name = a_group and (w.namespace, w.task, w.name) is not distinct from (a_namespace, a_task, a_name);
    if (select w.mode from trunkline.wildcard w where w.id = made) <> a_mode then
        perform trunkline.refuse(format('group "%s" %s', a_group, case a_mode when 'PULL' then 'has handlers' else 'is pulled from' end), 'TL008',
            'A group does one or the other: use another group, or cancel this one first.');
    end if;
    return made;
end $$;

-- Ends a wildcard for good, and what its group has of the topics that it is for, and no other wildcard of the group is.
create function trunkline.cancel_wildcard(a_group text, a_namespace text default null, a_task text default null, a_name text default null) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    w trunkline.wildcard;
begin
    perform from trunkline.installation for no key update;
    delete from trunkline.wildcard k
    where k.group_name = a_group and (k.namespace, k.task, k.name) is not distinct from (a_namespace, a_task, a_name) returning k.* into w;
    if w.id is null then
        perform trunkline.refuse(format('group "%s" has no such wildcard', a_group), 'TL008', 'Look at trunkline.wildcards: it may have been cancelled already.');
    end if;
    perform trunkline.set_status(s.id, 'CANCELLED')
    from trunkline.subscription s join trunkline.topic t on t.id = s.topic
    where s.group_name = w.group_name and s.status <> 'CANCELLED' and trunkline.matches(w, t)
      and not exists (select from trunkline.wildcard o where o.group_name = w.group_name and trunkline.matches(o, t));
end $$;

-- What a group has of a topic by a wildcard, for a process that is going to serve it. It is not made: if it is gone, it was cancelled.
create function trunkline.rejoin(a_group text, a_topic text, a_dead_after interval, a_bound bigint, out subscription int, out keyed boolean)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    perform from trunkline.topic t where t.name = a_topic and t.accepts_bytes < 0 for no key update;
    -- First the topic, then the group, as everybody does; and at once as strongly as it may be needed: two who share it would wait for each other.
    perform from trunkline.topic t where t.name = a_topic for share;
    perform from trunkline.subscription s join trunkline.topic t on t.id = s.topic
    where s.group_name = a_group and t.name = a_topic and s.status <> 'CANCELLED' for update of s;
    if not found then
        perform trunkline.refuse(format('group "%s" no longer subscribes to topic "%s"', a_group, a_topic), 'TL008', 'It was cancelled, or the topic was dropped.');
    end if;
    select k.subscription, k.keyed into subscription, keyed
    from trunkline.subscribe(a_group, a_topic, 'NOW', a_dead_after => a_dead_after, a_bound => a_bound) k;
end $$;

-- The topics that a group has by a wildcard, and consumes.
create function trunkline.topics_of(a_wildcard int) returns table (topic text, subscription int)
    language sql stable
as $$
    select t.name, s.id
    from trunkline.wildcard w
    join trunkline.topic t on trunkline.matches(w, t)
    join trunkline.subscription s on s.group_name = w.group_name and s.topic = t.id and s.status <> 'CANCELLED' and s.mode = w.mode
    where w.id = a_wildcard
    order by t.name
$$;

create view trunkline.wildcards as
    select w.id, w.group_name, w.namespace, w.task, w.name, w.mode, w.start_mode, w.start_at, w.created_at,
           (select count(*) from trunkline.topic t
            join trunkline.subscription s on s.group_name = w.group_name and s.topic = t.id and s.status <> 'CANCELLED'
            where trunkline.matches(w, t)) as topics
    from trunkline.wildcard w;

-- ---- keys ----

-- A key that a group wants, from some offset on, per level.
create table trunkline.wanted_key (
    subscription  int not null,
    partition     int not null,
    key           text collate "C" not null,
    starts        bigint[] not null,
    primary key (subscription, partition, key)
);

-- Adds keys to those that a group wants: from its start on if it is new, else from the end of the log on. Who owns a partition that
-- gets a key must read its keys anew: until then it would pass over the messages.
create function trunkline.want_keys(s trunkline.subscription, t trunkline.topic, a_keys text[], is_new boolean) returns void
    language plpgsql
as $$
declare
    new_keys text[]; places int[];
    ends bigint[];
begin
    select array_agg(k.key), array_agg(distinct trunkline.partition_of(k.key, t.partitions)) into new_keys, places
    from unnest(a_keys) k (key)
    where not exists (select from trunkline.wanted_key w where w.subscription = s.id and w.key = k.key);
    if new_keys is null then
        return;
    elsif not is_new then
        perform from trunkline.holder h where h.subscription = s.id and h.partition = any (places) order by h.partition for update;
    end if;
    ends := (trunkline.bounds(t.id)).ends;
    insert into trunkline.wanted_key (subscription, partition, key, starts)
    select s.id, k.place, k.key, array(
        select case when is_new then 0 else ends[k.place + t.partitions * l + 1] end from generate_series(0, t.levels - 1) l order by l)
    from (select n as key, trunkline.partition_of(n, t.partitions) as place from unnest(new_keys) n) k
    on conflict do nothing;
    if not is_new then
        update trunkline.holder h set epoch = h.epoch + 1, session = trunkline.nobody_after(h.session)
        where h.subscription = s.id and h.partition = any (places) and h.session is not null;
        insert into trunkline.group_event (subscription, what, detail) values (s.id, 'keys added', cardinality(new_keys)::text);
    end if;
end $$;

-- Refuses keys that are none, and keys for a group that has all.
create function trunkline.check_keys(s trunkline.subscription, a_topic text, a_keys text[]) returns void
    language plpgsql
as $$
begin
    if a_keys = '{}' or exists (select from unnest(a_keys) k where k is null) then
        perform trunkline.refuse('a group that wants some keys only names them', 'TL008', 'Name one or more, none of them null.');
    elsif exists (select from unnest(a_keys) k where octet_length(k) > 1024) then
        perform trunkline.refuse('a key has at most 1024 bytes', 'TL008', 'No message has a longer one.');
    elsif not s.keyed then
        perform trunkline.refuse(format('group "%s" has all keys of topic "%s"', s.group_name, a_topic), 'TL008',
            'Use another group for some keys only, or cancel this one first.');
    end if;
end $$;

-- What of a strand a group does not want, of these offsets.
create function trunkline.unwanted(s trunkline.subscription, t trunkline.topic, a_strand int, a_offsets int8multirange) returns int8multirange
    language sql stable
as $$
    select coalesce(range_agg(int8range(m."offset", m."offset" + 1)), '{}')
    from trunkline.strand_messages(t.id, a_strand, a_offsets) m
    where not exists (
        select from trunkline.wanted_key w
        where w.subscription = s.id and w.partition = a_strand % t.partitions and w.key = m.key
          and m."offset" >= w.starts[a_strand / t.partitions + 1])
$$;
