-- name: version
select coalesce(max(m.version), 0) from trunkline.migration m
