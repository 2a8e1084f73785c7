-- name: version
select max(version) from migration
