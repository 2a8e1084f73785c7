-- name: backend
select pg_backend_pid()

-- name: clients
select a.pid from pg_stat_activity a where a.datname = current_database() and a.backend_type = 'client backend'

-- name: usage
select pg_current_wal_insert_lsn() - '0/0'::pg_lsn,
       d.tup_inserted + d.tup_updated + d.tup_deleted,
       d.tup_updated + d.tup_deleted
from pg_stat_database d
where d.datname = current_database()
