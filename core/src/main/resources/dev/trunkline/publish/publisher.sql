-- name: append
select a.partition_count, a.ids, a.base_id, a.partitions, a.touched, a.tails, a.holders
from trunkline.append(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) a

-- name: shape
select t.partitions, t.lanes, trunkline.partition_of(t.name, 1048576) from trunkline.topic t where t.name = ?
