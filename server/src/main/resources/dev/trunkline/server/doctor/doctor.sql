-- Each statement finds what is wrong: a text for each thing.

-- name: version
select current_setting('server_version_num')::int / 10000, current_setting('server_version')

-- name: standby
select 'this server is a standby' where pg_is_in_recovery()

-- name: settings
select format('%s is off', s.name)
from pg_settings s
where s.name in ('fsync', 'full_page_writes', 'synchronous_commit') and s.setting = 'off'

-- name: restored
select 'this is the restore of another database'
from trunkline.installation i, pg_control_system() c, pg_database d
where d.datname = current_database() and (i.system_identifier <> c.system_identifier or i.database <> d.oid)

-- name: seesAll
select pg_has_role(current_user, 'pg_read_all_stats', 'usage')

-- name: transactions
-- The oldest few: each of them holds back all that is newer. Those in other databases do not, nor does VACUUM itself; a standby that gives feedback
-- does, wherever it is, and has no transaction of its own.
select x.text
from (
    select a.xact_start as since, format('pid %s (%s%s) has a transaction open for %s seconds and is %s', a.pid, a.usename,
               ', ' || nullif(a.application_name, ''), extract(epoch from clock_timestamp() - a.xact_start)::bigint, coalesce(a.state, a.backend_type)) as text
    from pg_stat_activity a
    where a.datname = current_database() and (a.backend_xmin is not null or a.backend_xid is not null) and a.pid <> pg_backend_pid()
      and not exists (select from pg_stat_progress_vacuum v where v.pid = coalesce(a.leader_pid, a.pid))
      and a.xact_start < clock_timestamp() - ?::float8 * interval '1 second'
    union all
    select a.backend_start, format('standby at pid %s (%s) holds back %s transactions', a.pid, a.application_name, age(a.backend_xmin))
    from pg_stat_activity a
    where a.backend_type = 'walsender' and a.xact_start is null and age(a.backend_xmin) > 10000000
    union all
    select p.prepared, format('prepared transaction "%s" (%s) has been waiting for %s seconds', p.gid, p.owner,
               extract(epoch from clock_timestamp() - p.prepared)::bigint)
    from pg_prepared_xacts p
    where p.database = current_database() and p.prepared < clock_timestamp() - ?::float8 * interval '1 second') x
order by x.since
limit 5

-- name: slots
select format('slot "%s" %s and holds back %s transactions and %s bytes of WAL', s.slot_name, case when s.active then 'is slow' else 'is used by nobody' end,
           coalesce(greatest(age(s.xmin), age(s.catalog_xmin)), 0),
           coalesce(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, s.restart_lsn), 0)::bigint)
from pg_replication_slots s
where not s.temporary and (s.xmin is not null or s.catalog_xmin is not null or s.restart_lsn is not null)
  and (not s.active or greatest(age(s.xmin), age(s.catalog_xmin)) > 10000000)

-- name: backlog
select format('topic %s: %s messages wait for the relay, the first for %s seconds', b.topic, b.messages,
           extract(epoch from clock_timestamp() - b.since)::bigint)
from trunkline.backlog b
where b.since < clock_timestamp() - ?::float8 * interval '1 second'
order by b.since

-- name: nobody
select case when t.until is null then 'nobody has ever done it, or who did has left' else format('nobody has done it since %s', t.until) end
from trunkline.upkeep_turn t
where t.until is null or t.until < clock_timestamp()

-- name: pinned
select format('topic %s: group "%s" holds back %s bytes since %s', h.topic, h.pinned_by, h.pinned_bytes, h.pinned_since)
from trunkline.topic_health h
where h.pinned_by is not null

-- name: behind
select format('topic %s: %s segments could go and are still there', h.topic, h.overdue_segments)
from trunkline.topic_health h
where h.falling_behind

-- name: unheard
select format(case h.semantics when 'QUEUE' then 'nobody takes messages from queue %s' else 'topic %s has no group' end, h.topic)
from trunkline.topic_health h
where h.groups = 0

-- name: groups
select format('group "%s" of topic %s is %s, with %s messages pending', g.group_name, g.topic, g.health, g.pending)
from trunkline.groups g
where g.health in ('DEAD', 'NEAR_TIMEOUT', 'STALLED', 'FLAPPING') or g.health = 'UNATTENDED' and g.pending > 0
order by g.topic, g.group_name

-- name: bloat
-- Tables with payloads may be large; the others have few and small rows.
select format('table %s has %s dead rows beside %s live ones, and %s bytes', s.relname, s.n_dead_tup, s.n_live_tup, pg_table_size(s.relid))
from pg_stat_user_tables s
where s.schemaname = ? and s.relname !~ '^(segment|outbox|progress|grant|idempotency)_[0-9]+$'
  and (s.n_dead_tup > 10000 and s.n_dead_tup > 5 * s.n_live_tup
       or s.relname in ('installation', 'topic', 'lane', 'mark', 'subscription', 'session', 'member', 'holder', 'blocked', 'suspect', 'upkeep_turn', 'grant_base')
          and pg_table_size(s.relid) > 16777216 + 10000 * s.n_live_tup)
order by s.n_dead_tup desc

-- name: clock
select extract(epoch from clock_timestamp())::float8

-- name: listen
listen trunkline_doctor

-- name: unlisten
unlisten trunkline_doctor

-- name: notify
select pg_notify('trunkline_doctor', ?)

-- name: queue
select format('the notification queue is %s %% full', round(100 * q.usage))
from pg_notification_queue_usage() q (usage)
where q.usage > 0.5

-- name: backend
select pg_backend_pid()
