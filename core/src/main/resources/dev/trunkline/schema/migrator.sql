-- name: server
select current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby

-- name: lock
select pg_advisory_xact_lock(hashtextextended(?, 0))

-- name: exists
-- By the catalogue's tables: to_regclass may answer from before the lock was granted.
select exists (
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = ? and c.relname = 'migration')

-- name: version
select coalesce(max(version), 0) from trunkline.migration

-- name: record
insert into trunkline.migration (version, name) values (?, ?)

-- name: isAdopted
select i.system_identifier = c.system_identifier and i.database = d.oid
from trunkline.installation i, pg_control_system() c, pg_database d
where d.datname = current_database()

-- name: adopt
select trunkline.adopt()
