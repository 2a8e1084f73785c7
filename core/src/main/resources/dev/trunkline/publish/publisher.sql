-- name: append
select a.ids, a.base_id, a.partition_count, a.partitions, a.touched, a.tails, a.holders
from trunkline.append(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) a
