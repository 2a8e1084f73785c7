-- name: append
select a.ids, a.partitions, a.offsets, a.holders from trunkline.append(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) a
