-- name: create
select trunkline.create_topic(
    name => ?, semantics => ?, ordering => ?, partitions => ?, lanes => ?, levels => ?, namespace => ?, task => ?,
    retention => ?::interval, max_payload_bytes => ?, segment_bytes => ?, segment_age => ?::interval,
    hard_cap => ?::interval, zombie_ttl => ?::interval, unheard_retention => ?::interval, unheard => ?, tracking => ?)

-- name: alter
select trunkline.alter_topic(
    name => ?, semantics => ?, namespace => ?, task => ?, retention => ?::interval, max_payload_bytes => ?, segment_bytes => ?,
    segment_age => ?::interval,
    hard_cap => ?::interval, zombie_ttl => ?::interval, unheard_retention => ?::interval, unheard => ?, tracking => ?)

-- name: drop
select trunkline.drop_topic(?)

-- name: find
select t.name, t.semantics, t.ordering, t.partitions, t.lanes, t.levels, t.namespace, t.task,
       extract(epoch from t.retention)::bigint as retention, t.max_payload_bytes, t.segment_bytes,
       extract(epoch from t.segment_age)::bigint as segment_age, extract(epoch from t.hard_cap)::bigint as hard_cap,
       extract(epoch from t.zombie_ttl)::bigint as zombie_ttl, extract(epoch from t.unheard_retention)::bigint as unheard_retention, t.unheard, t.tracking
from trunkline.topic t
where t.name = ?

-- name: list
select t.name, t.semantics, t.ordering, t.partitions, t.lanes, t.levels, t.namespace, t.task,
       extract(epoch from t.retention)::bigint as retention, t.max_payload_bytes, t.segment_bytes,
       extract(epoch from t.segment_age)::bigint as segment_age, extract(epoch from t.hard_cap)::bigint as hard_cap,
       extract(epoch from t.zombie_ttl)::bigint as zombie_ttl, extract(epoch from t.unheard_retention)::bigint as unheard_retention, t.unheard, t.tracking
from trunkline.topic t
order by t.name

-- name: unconfigured
select i.unconfigured_topics from trunkline.installation i

-- name: setUnconfigured
select trunkline.set_unconfigured_topics(?)

-- name: setDefaultStart
select trunkline.set_default_start(?)
