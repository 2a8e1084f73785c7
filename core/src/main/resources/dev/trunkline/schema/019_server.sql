-- What the server keeps: keys of callers, and who has decided what.

-- A key is known by its hash only. What it allows: verbs, on topics and groups that fit patterns.
create table trunkline.api_key (
    id          int generated always as identity primary key,
    name        text collate "C" not null,
    hash        bytea not null unique,
    verbs       text[] not null check (verbs <@ '{READ,PUBLISH,CONSUME,ADMIN}'),
    topics      text collate "C" not null default '*',
    groups      text collate "C" not null default '*',
    created_at  timestamptz not null default clock_timestamp(),
    expires_at  timestamptz,
    revoked_at  timestamptz
);

-- What was decided, by whom; never what a message says.
create table trunkline.audit_log (
    id      bigint generated always as identity primary key,
    at      timestamptz not null default clock_timestamp(),
    who     text not null,
    what    text not null,
    target  text not null,
    -- What was answered, once that is known.
    status  int
);

-- For how long it is good counts by the clock that it is held against later. Null: for ever.
create function trunkline.create_api_key(a_name text, a_hash bytea, a_verbs text[], a_topics text, a_groups text, a_expires_in interval) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    key_id int;
begin
    perform trunkline.check_name('key''s name', a_name, 'TL003');
    insert into trunkline.api_key (name, hash, verbs, topics, groups, expires_at) values (a_name, a_hash, a_verbs, a_topics, a_groups, clock_timestamp() + a_expires_in)
    returning id into key_id;
    return key_id;
end $$;

-- A key that allows everything, if there has never been one. Of servers that start together, one makes it. Null: there is one.
create function trunkline.create_first_api_key(a_name text, a_hash bytea) returns int
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    lock table trunkline.api_key in share row exclusive mode;
    if exists (select from trunkline.api_key) then
        return null;
    end if;
    return trunkline.create_api_key(a_name, a_hash, '{READ,PUBLISH,CONSUME,ADMIN}', '*', '*', null);
end $$;

-- What a key allows, if it is good now.
create function trunkline.find_api_key(a_hash bytea) returns table (id int, name text, verbs text[], topics text, groups text)
    language sql stable security definer
    set search_path = pg_catalog, pg_temp
as $$
    select k.id, k.name, k.verbs, k.topics, k.groups
    from trunkline.api_key k
    where k.hash = a_hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
$$;

create function trunkline.list_api_keys() returns table (
    id int, name text, verbs text[], topics text, groups text, created_at timestamptz, expires_at timestamptz, revoked_at timestamptz)
    language sql stable security definer
    set search_path = pg_catalog, pg_temp
as $$
    select k.id, k.name, k.verbs, k.topics, k.groups, k.created_at, k.expires_at, k.revoked_at from trunkline.api_key k order by k.id
$$;

-- False: there is none, or it was revoked before.
create function trunkline.revoke_api_key(a_id int) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
as $$
begin
    update trunkline.api_key k set revoked_at = clock_timestamp() where k.id = a_id and k.revoked_at is null;
    return found;
end $$;

create function trunkline.note_decision(a_who text, a_what text, a_target text) returns bigint
    language sql security definer
    set search_path = pg_catalog, pg_temp
as $$
    insert into trunkline.audit_log (who, what, target) values (a_who, a_what, a_target) returning id
$$;

create function trunkline.note_answer(a_id bigint, a_status int) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp
as $$
    update trunkline.audit_log set status = a_status where id = a_id
$$;
