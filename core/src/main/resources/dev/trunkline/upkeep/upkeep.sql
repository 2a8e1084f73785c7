-- name: topicsToRoll
select trunkline.topics_to_roll()

-- name: topicsToTrim
select t.id from trunkline.topic t where trunkline.retention_watermark(t.id) is not null

-- name: step
select trunkline.upkeep(?, ?)
