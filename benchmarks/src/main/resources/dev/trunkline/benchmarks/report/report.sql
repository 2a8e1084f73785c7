-- name: serverVersion
select current_setting('server_version')

-- name: settings
select s.name || '=' || current_setting(s.name)
from pg_settings s
where s.name in (
    'autovacuum', 'checkpoint_timeout', 'commit_delay', 'effective_io_concurrency', 'fsync', 'full_page_writes',
    'io_method', 'jit', 'max_connections', 'max_wal_size', 'shared_buffers', 'synchronous_commit', 'wal_buffers',
    'wal_compression', 'wal_level', 'wal_sync_method', 'work_mem')
order by s.name
