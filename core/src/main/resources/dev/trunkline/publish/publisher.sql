-- name: append
select a.ids, a.partitions, a.holders, a.touched, a.tails, a.partition_count from trunkline.append(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) a
