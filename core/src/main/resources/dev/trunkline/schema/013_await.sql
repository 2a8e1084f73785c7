-- Read your writes: what a publisher asks to know that a group has handled its message.

-- Whether a message that was committed has left the outbox, so that it lies below the end of the log.
create function trunkline.has_offset(a_topic text, a_id bigint) returns boolean
    language sql stable security definer
    set search_path = pg_catalog, pg_temp
as $$
    select not exists (
        select from trunkline.topic t
        join trunkline.lane l on l.topic = t.id
        cross join lateral (
            select m.* from trunkline.mark m where m.topic = l.topic and m.lane = l.lane order by m.no desc limit 1) m
        where t.name = a_topic
          and (exists (select from trunkline.fresh(t.id, l.lane, m.snapshot, pg_current_snapshot()) f where f.id = a_id)
               or exists (select from trunkline.delayed d where d.topic = t.id and d.lane = l.lane and d.id = a_id
                          and (d.due_at, d.unit, d.id) > (m.due, m.due_unit, m.due_id))))
$$;

-- What has become of a message for a group, if it lies within what is asked of some strands: DONE, DEAD (a dead letter), or WAITING.
create function trunkline.fate(a_group text, a_topic text, a_id bigint, a_strands int[], a_from bigint[], a_to bigint[]) returns text
    language plpgsql stable security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    its int;
begin
    select s.id into its
    from trunkline.subscription s join trunkline.topic t on t.id = s.topic
    where s.group_name = a_group and t.name = a_topic and s.status <> 'CANCELLED';
    if its is null then
        perform trunkline.refuse(format('there is no group "%s" of topic "%s"', a_group, a_topic), 'TL008', 'Start it first.');
    end if;
    if exists (select from trunkline.dead_letter d where d.subscription = its and d.message_id = a_id) then
        return 'DEAD';
    end if;
    if exists (select from trunkline.parked p where p.subscription = its and p.message_id = a_id) or exists (
        select from unnest(a_strands, a_from, a_to) w (strand, "from", "to")
        left join trunkline.done(its, array(select distinct k.strand % t.partitions from unnest(a_strands) k (strand), trunkline.topic t where t.name = a_topic)) d
            on d.strand = w.strand
        where w."from" < w."to" and not coalesce(d.done @> int8range(w."from", w."to"), false)) then
        return 'WAITING';
    end if;
    return 'DONE';
end $$;
