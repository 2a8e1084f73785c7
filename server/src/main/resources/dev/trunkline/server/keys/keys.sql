-- name: note
select trunkline.note_decision('database user ' || session_user, ?, ?)
