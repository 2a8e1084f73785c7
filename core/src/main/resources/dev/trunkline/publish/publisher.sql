-- name: append
select a.ids, a.partitions, a.holders, a.touched, a.tails from trunkline.append(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) a
