-- name: topicsToRoll
select trunkline.topics_to_roll()

-- name: roll
select trunkline.roll_segment(?)

-- name: topicsToTrim
select t.id from trunkline.topic t where trunkline.retention_watermark(t.id) is not null

-- name: trim
select trunkline.drop_segment(?, trunkline.retention_watermark(?))

-- name: advanceOutbox
select trunkline.advance_outbox()

-- name: clearOutbox
select trunkline.clear_outbox(s) from generate_series(0, 3) s

-- name: pruneMarks
select trunkline.prune_marks()

-- name: rotateIdempotency
select trunkline.rotate_idempotency()
