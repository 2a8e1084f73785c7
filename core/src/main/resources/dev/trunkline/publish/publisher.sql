-- name: append
select a.ids, a.partitions, a.offsets, a.holders, a.partition_count from trunkline.append(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) a
