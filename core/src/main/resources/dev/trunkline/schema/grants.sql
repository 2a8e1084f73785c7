-- Who may do what; run after every migration. Nothing for PUBLIC. Only SECURITY DEFINER functions write, except that
-- app may insert into the outbox, where it does not choose a message's transaction.
revoke all on schema trunkline from public;
revoke all on all tables in schema trunkline from public;
revoke all on all sequences in schema trunkline from public;
revoke all on all routines in schema trunkline from public;

do $$
declare
    slot int;
begin
    if exists (select from pg_roles r where r.rolname = 'trunkline_reader') then
        grant usage on schema trunkline to trunkline_reader;
        grant select on all tables in schema trunkline to trunkline_reader;
        alter default privileges in schema trunkline grant select on tables to trunkline_reader;
        revoke select on trunkline.api_key from trunkline_reader;
        grant execute on function trunkline.as_text, trunkline.as_json, trunkline.segment_messages, trunkline.read,
            trunkline.partition_of, trunkline.offset_at, trunkline.bounds, trunkline.readable_ends, trunkline.done, trunkline.cursors, trunkline.cursor_of, trunkline.lags,
            trunkline.lag, trunkline.group_of, trunkline.refuse, trunkline.groups_of, trunkline.group_health, trunkline.pending_since, trunkline.frames, trunkline.cut_offs,
            trunkline.is_pulled, trunkline.fresh, trunkline.backlogs, trunkline.metrics, trunkline.matches, trunkline.timeline, trunkline.frame_flaw,
            trunkline.verify_frames, trunkline.verify_topic, trunkline.counted_as_relayed, trunkline.verify_relayed, trunkline.verify_ids,
            trunkline.verify_installation to trunkline_reader;
    end if;
    if exists (select from pg_roles r where r.rolname = 'trunkline_app') then
        grant usage on schema trunkline to trunkline_app;
        grant select on all tables in schema trunkline to trunkline_app;
        alter default privileges in schema trunkline grant select on tables to trunkline_app;
        revoke select on trunkline.api_key from trunkline_app;
        grant usage on sequence trunkline.message_id to trunkline_app;
        for slot in 0 .. 3 loop
            execute format('grant insert (id, unit, due_at, topic, lane, partition, key, idempotency_key, correlation_id, content_type, headers, payload)
                on trunkline.outbox_%s to trunkline_app', slot);
        end loop;
        grant execute on all routines in schema trunkline to trunkline_app;
        -- These take a clock, a watermark or a table from their caller: applications go through trunkline.upkeep.
        revoke execute on function trunkline.drop_topic, trunkline.lock_segments, trunkline.remove_segment, trunkline.create_segment, trunkline.drop_segment,
            trunkline.advance_outbox, trunkline.clear_outbox, trunkline.prune_marks, trunkline.rotate_idempotency,
            trunkline.rotate_progress, trunkline.fold_progress, trunkline.fold_grants, trunkline.watch_groups, trunkline.sweep_groups,
            trunkline.trim, trunkline.droppable, trunkline.pass_over, trunkline.open_or_close, trunkline.share_group,
            trunkline.match_topics, trunkline.want_keys, trunkline.begin_catch_up,
            trunkline.trace_progress, trunkline.trace from trunkline_app;
        -- Who gives keys may do whatever the server may.
        revoke execute on function trunkline.create_api_key, trunkline.create_first_api_key, trunkline.find_api_key, trunkline.list_api_keys, trunkline.revoke_api_key,
            trunkline.note_decision, trunkline.note_answer from trunkline_app;
    end if;
end $$;
