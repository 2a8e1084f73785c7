-- name: ids
select d.id
from trunkline.dead_letters d
where d.group_name = ? and d.topic = ? and d.group_status <> 'CANCELLED' and d.id > ?
order by d.id limit ?

-- name: plan
-- Which dead letters there are of these, or of all (null), how many keys they stop, and how many messages wait behind those.
select count(*), count(distinct (d.strand, d.key)) filter (where d.stops_key),
       coalesce(sum((
           select count(*) from trunkline.parked p
           where p.subscription = d.subscription and p.strand = d.strand and p.key = d.key and p."offset" > d."offset")) filter (where d.stops_key), 0)
from trunkline.dead_letter d
join trunkline.subscription s on s.id = d.subscription and s.status <> 'CANCELLED'
join trunkline.topic t on t.id = s.topic
where s.group_name = ? and t.name = ? and (?::bigint[] is null or d.id = any (?))
