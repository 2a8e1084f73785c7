-- The owner's tables and functions are reached through the app and reader roles. Where roles can not be created,
-- whoever migrates is the owner, and grants for app and reader are given to those that exist.
do $$
declare
    name text;
begin
    if (select r.rolsuper or r.rolcreaterole from pg_roles r where r.rolname = current_user) then
        foreach name in array array['trunkline_owner', 'trunkline_app', 'trunkline_reader'] loop
            begin
                if not exists (select from pg_roles r where r.rolname = name) then
                    execute format('create role %I nologin', name);
                end if;
            exception when duplicate_object or unique_violation then
                null; -- somebody else was faster
            end;
        end loop;
        -- From 16 on, whoever creates a role may grant it, but not yet act as it.
        if current_setting('server_version_num')::int >= 160000 then
            if not pg_has_role(current_user, 'trunkline_owner', 'set') then
                execute 'grant trunkline_owner to current_user with inherit true, set true';
            end if;
        elsif not pg_has_role(current_user, 'trunkline_owner', 'member') then
            grant trunkline_owner to current_user;
        end if;
    end if;
    if exists (select from pg_roles r where r.rolname = 'trunkline_owner')
        and pg_has_role(current_user, 'trunkline_owner', case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end) then
        create schema if not exists trunkline authorization trunkline_owner;
        set local role trunkline_owner;
    else
        create schema if not exists trunkline;
    end if;
end $$;

create table if not exists trunkline.migration (
    version     int primary key,
    name        text not null,
    applied_at  timestamptz not null default clock_timestamp()
);
