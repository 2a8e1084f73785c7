-- name: topicsToRoll
select trunkline.topics_to_roll()

-- name: topicsToTrim
select t.id
from trunkline.topic t
where (select s.opened_at from trunkline.segment s where s.topic = t.id order by s.id offset 1 limit 1)
    <= clock_timestamp() - least(t.retention, t.unheard_retention)

-- name: step
select trunkline.upkeep(?, ?)

-- name: takePruning
select trunkline.take_pruning()

-- name: takeTurn
select trunkline.take_turn(?)

-- name: leaveTurn
select trunkline.leave_turn(?)
