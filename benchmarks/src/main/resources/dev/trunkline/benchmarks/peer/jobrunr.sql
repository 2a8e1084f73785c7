-- name: create
drop schema if exists trunkline_bench_jobrunr cascade;
create schema trunkline_bench_jobrunr

-- name: use
insert into trunkline_bench_jobrunr.jobrunr_jobs (id, version, jobasjson, jobsignature, state, createdat, updatedat)
select gen_random_uuid(), 3, repeat('x', 1000), 'used', s.state, now() at time zone 'utc', now() at time zone 'utc'
from unnest(array['SUCCEEDED', 'ENQUEUED']) as s (state), generate_series(1, 5000)

-- name: analyze
vacuum analyze trunkline_bench_jobrunr.jobrunr_jobs

-- name: finish
delete from trunkline_bench_jobrunr.jobrunr_jobs where state = 'ENQUEUED'
