-- The generations of a ledger, of this schema or of a slice. The application owns no table: it opens and closes
-- generations through functions, which look at their arguments first.
--
-- Who posts holds a shared lock from before it reads which generation takes rows until its transaction ends; who opens
-- the next one holds it alone. So nothing is posted to a generation that has been left, and who posts to the next one
-- sees every key of those before (docs/adr/0155). In a slice its turn, the row of `head`, is that lock.

create function generations_home(of_slice integer, waits text) returns text
    language plpgsql set search_path from current as $body$
declare
    home text := coalesce('slice_' || of_slice, current_schema());
begin
    if of_slice is not null and not exists (select from slice where number = of_slice) then
        raise exception 'no slice of this ledger: %', of_slice using errcode = 'invalid_parameter_value';
    end if;
    execute format('do $in_a_block$ begin
        set local citus.propagate_set_commands = local;
        set local lock_timeout = %L;
    end $in_a_block$', waits);
    return home;
end
$body$;

create function generation_to_post_in() returns integer
    language plpgsql volatile set search_path from current as $body$
begin
    perform pg_advisory_xact_lock_shared(hashtext('ledger generation'), hashtext(current_schema()));
    return (select max(number) from generation);  -- as of now: the lock may have been waited for
end
$body$;

create function generation_open(next integer, at timestamptz, of_slice integer default null) returns boolean
    language plpgsql security definer set search_path from current as $body$
declare
    home text := generations_home(of_slice, '5s');
    last integer;
    part text;
    name text;
begin
    if of_slice is null then
        perform pg_advisory_xact_lock(hashtext('ledger generation'), hashtext(home));
    else
        execute format('select from %I.head for update', home);
    end if;
    execute format('select max(number) from %I.generation', home) into last;
    if last is distinct from next - 1 then
        return false;
    end if;
    foreach name in array array['transfer', 'claim'] loop
        part := name || '_' || next;
        execute format('create table %1$I.%2$I (like %1$I.%3$I including all)', home, part, name);
        execute format('alter table %1$I.%2$I alter column generation set default %3$s,
            add constraint %4$I check (generation = %3$s)', home, part, next, part || '_is_of_it');
        if name = 'transfer' then
            execute format('alter table %1$I.%2$I add primary key (member_id, program, seq)', home, part);
            execute format('create index on %1$I.%2$I (xid)', home, part);
            execute format('create index on %1$I.%2$I using brin (posted_at)', home, part);
            execute format('create index on %1$I.%2$I (member_id, program, reverses)
                where reverses is not null', home, part);
        else
            execute format('alter table %1$I.%2$I add primary key (key)', home, part);
        end if;
        execute format('create trigger %3$I before update or delete or truncate on %1$I.%2$I
            for each statement execute function abacus_refuse_change(''but for erasure'')',
            home, part, name || '_is_append_only');
        execute format('grant select, insert on %1$I.%2$I to abacus_app', home, part);
        execute format('alter table %1$I.%3$I attach partition %1$I.%2$I for values in (%4$s)',
            home, part, name, next);
        -- Also for who names the whole table, or is of a version that knows no generations.
        execute format('create trigger %3$I before insert on %1$I.%2$I
            for each row execute function abacus_refuse_change()', home, name || '_' || last, name || '_was_left');
        execute format('revoke insert on %1$I.%2$I from abacus_app', home, name || '_' || last);
    end loop;
    execute format('update %I.generation set left_at = $1 where number = $2', home) using at, last;
    execute format('insert into %I.generation (number, opened_at) values ($1, $2)', home) using next, at;
    return true;
end
$body$;

-- A generation that was left is closed when a filter tells of its keys.

create function generation_close(
    of_number integer, at timestamptz, all_transfers bigint, all_claims bigint, of_slice integer default null
) returns boolean
    language plpgsql security definer set search_path from current as $body$
declare
    home text := generations_home(of_slice, '5s');
    has_filter boolean;
    is_closed boolean;
begin
    execute format('select exists (select from %I.key_filter where generation = $1)', home)
        into has_filter using of_number;
    if not has_filter then
        raise exception 'generation % has no filter', of_number using errcode = 'object_not_in_prerequisite_state';
    end if;
    execute format('update %I.generation set closed_at = $2, transfers = $3, claims = $4
        where number = $1 and left_at is not null and closed_at is null returning true', home)
        into is_closed using of_number, at, all_transfers, all_claims;
    return is_closed is true;
end
$body$;

revoke all on function generations_home(integer, text) from public;
revoke all on function generation_open(integer, timestamptz, integer) from public;
revoke all on function generation_close(integer, timestamptz, bigint, bigint, integer) from public;
grant execute on function generation_open(integer, timestamptz, integer) to abacus_app;
grant execute on function generation_close(integer, timestamptz, bigint, bigint, integer) to abacus_app;
