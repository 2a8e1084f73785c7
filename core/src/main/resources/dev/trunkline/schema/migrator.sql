-- name: server
select current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby

-- name: lock
select pg_advisory_xact_lock(hashtextextended(?, 0))

-- name: exists
select to_regclass(?) is not null

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
