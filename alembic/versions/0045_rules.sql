-- The application's role. Roles belong to the whole server: another Abacus database may have made it, even just now.

do $$
begin
    if not exists (select from pg_roles where rolname = 'abacus_app') then
        create role abacus_app nologin;
    end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$
begin
    -- From Postgres 16 on, being a member no longer means that one may take the role.
    if not pg_has_role(current_user, 'abacus_app',
                       case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end) then
        execute format('grant abacus_app to %I', current_user);
    end if;
end $$;

-- History is only added to. An erasure, by an owner of the table, takes a member's name out of some tables: each row is
-- compared with what it was, also on other servers, where a table's name has a number behind it.

create function abacus_refuse_change() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' and tg_nargs = 1 and tg_argv[0] = 'but for erasure'
        and coalesce(current_setting('abacus.erasing', true), '') <> ''
        and (select pg_has_role(current_user, relowner, 'usage') from pg_class where oid = tg_relid)
    then
        return null;
    end if;
    raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$;

create function abacus_rename_only() returns trigger language plpgsql as $$
declare
    kept record;
    of_table text := regexp_replace(tg_table_name, '_[0-9]+$', '');
begin
    kept := new;
    kept.member_id := old.member_id;
    if of_table in ('claim', 'transfer') then
        if old.key ~ '^(import|expiry):' then
            kept.key := old.key;
        end if;
    end if;
    if of_table = 'transfer' then
        kept.reverses := old.reverses;
        kept.explanation := old.explanation;
        kept.hash := old.hash;
    end if;
    if old.member_id is distinct from current_setting('abacus.erasing', true)
        or new.member_id !~ '^erased-[0-9a-f]{32}$' or kept *<> old
    then
        raise exception '% is append-only: more than a name would change', tg_table_name
            using errcode = 'restrict_violation';
    end if;
    return new;
end $$;

create function abacus_forget_only() returns trigger language plpgsql as $$
declare
    kept record;
begin
    kept := new;
    kept.subject := old.subject;
    kept.details := old.details;
    if coalesce(current_setting('abacus.erasing', true), '') = '' or kept *<> old then
        raise exception '% is append-only: more than a name would change', tg_table_name
            using errcode = 'restrict_violation';
    end if;
    return new;
end $$;

-- What was asked for stays, and what is decided stays decided; but for an erasure, by an owner of the table.

create function abacus_keep_what_was_asked() returns trigger language plpgsql as $$
begin
    if coalesce(current_setting('abacus.erasing', true), '') <> ''
        and (select pg_has_role(current_user, relowner, 'usage') from pg_class where oid = tg_relid)
    then
        return new;
    end if;
    if old.status in ('done', 'rejected', 'void')
        or (new.approval_id, new.kind, new.subject) <> (old.approval_id, old.kind, old.subject)
        or (new.summary, new.document, new.digest) <> (old.summary, old.document, old.digest)
        or (new.asked_by, new.asked_at) <> (old.asked_by, old.asked_at)
        or new.country is distinct from old.country or new.before_people <> old.before_people
        or (old.status = 'approved' and new.decided_by is distinct from old.decided_by)
    then
        raise exception 'approval: what was asked for and what is decided stay' using errcode = 'restrict_violation';
    end if;
    return new;
end $$;

-- Processes that keep a copy hear that it is old.

create function abacus_announce_change() returns trigger language plpgsql as $$
begin
    perform pg_notify('abacus_changed', tg_argv[0]);
    return null;
end $$;

-- The slice of a member: the first 32 bits of the id's SHA-256, as `abacus.platform.slicing` has them.

create function abacus_slice_of(member_id text, slices integer) returns integer immutable strict parallel safe
    return (('x' || encode(substr(sha256(convert_to(member_id, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint
        % slices)::integer;

create function abacus_refuse_stranger() returns trigger language plpgsql as $$
begin
    raise exception 'a member of another slice is no member of %', tg_table_schema using errcode = 'check_violation';
end $$;

-- The next functions run with their owner's rights, and with the search path of the migration.

create function abacus_set_limits(
    of_partner text, new_per_award bigint, new_per_member_day bigint, new_per_day bigint, new_in_total bigint
) returns void language plpgsql security definer set search_path from current as $$
begin
    if not exists (
        select from audit_log
        where subject = 'partner:' || of_partner and deed = 'edit-limits' and xmin = pg_current_xact_id()::xid
    ) then
        raise exception 'the limits of % change only in a transaction that writes it into the log', of_partner
            using errcode = 'restrict_violation';
    end if;
    update allowance set (per_award, per_member_day, per_day, in_total)
        = (new_per_award, new_per_member_day, new_per_day, new_in_total)
    where partner_id = of_partner;
end $$;
revoke execute on function abacus_set_limits(text, bigint, bigint, bigint, bigint) from public;
grant execute on function abacus_set_limits(text, bigint, bigint, bigint, bigint) to abacus_app;

-- Rows of counters lie in partitions of this schema or of a slice. The application owns no table: it makes and drops
-- partitions through two functions, which look at their arguments first. A partition is attached, because that lets
-- others read and write meanwhile. The servers of slices take over the limit for locks when a block says so. Times are
-- compared with the clock here: no server of a slice has to agree on it.

create function counter_partitions_home(of_slice integer, waits text) returns text
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
    perform pg_advisory_xact_lock(hashtext('counter partitions'), hashtext(home));
    return home;
end
$body$;

create function counter_partition_keep(
    first_slot integer, next_slot integer, until_second bigint, of_slice integer default null
) returns void
    language plpgsql security definer set search_path from current as $body$
declare
    home text;
    is_there boolean;
begin
    if first_slot < 0 or next_slot <= first_slot or next_slot - first_slot > 366 * 96
        or (next_slot - 1) >> 28 <> first_slot >> 28 or until_second < 0
    then
        raise exception 'no partition of counters: % to %', first_slot, next_slot
            using errcode = 'invalid_parameter_value';
    end if;
    home := counter_partitions_home(of_slice, '5s');
    execute format('update %I.counter_partition p set until = greatest(p.until, $3)
        where p.first = $1 and p.next = $2 returning true', home)
        into is_there using first_slot, next_slot, until_second;
    if is_there then
        return;
    end if;
    execute format('create table %1$I.%2$I (like %1$I.counter_row including all) with (fillfactor = 80)',
        home, 'counter_row_' || first_slot);
    execute format('alter table %1$I.counter_row attach partition %1$I.%2$I
        for values from (%3$s) to (%4$s)', home, 'counter_row_' || first_slot, first_slot, next_slot);
    execute format('insert into %I.counter_partition values ($1, $2, $3)', home)
        using first_slot, next_slot, until_second;
end
$body$;

create function counter_partition_drop(
    first_slot integer, now_second bigint, of_slice integer default null
) returns boolean
    language plpgsql security definer set search_path from current as $body$
declare
    home text := counter_partitions_home(of_slice, '2s');
    is_over boolean;
begin
    execute format('delete from %I.counter_partition p
        where p.first = $1 and p.until <= $2 returning true', home)
        into is_over using first_slot, least(now_second, floor(extract(epoch from clock_timestamp()))::bigint);
    if is_over is null then
        return false;
    end if;
    execute format('drop table %I.%I', home, 'counter_row_' || first_slot);
    return true;
end
$body$;

revoke all on function counter_partitions_home(integer, text) from public;
revoke all on function counter_partition_keep(integer, integer, bigint, integer) from public;
revoke all on function counter_partition_drop(integer, bigint, integer) from public;
grant execute on function counter_partition_keep(integer, integer, bigint, integer) to abacus_app;
grant execute on function counter_partition_drop(integer, bigint, integer) to abacus_app;

-- The triggers, in the order of the tables.

create trigger claim_is_append_only before update or delete or truncate on claim
    for each statement execute function abacus_refuse_change('but for erasure');
create trigger claim_changes_in_name_only before update on claim
    for each row execute function abacus_rename_only();
create trigger claim_rows_stay before delete on claim
    for each row execute function abacus_refuse_change();
create trigger transfer_is_append_only before update or delete or truncate on transfer
    for each statement execute function abacus_refuse_change('but for erasure');
create trigger transfer_changes_in_name_only before update on transfer
    for each row execute function abacus_rename_only();
create trigger transfer_rows_stay before delete on transfer
    for each row execute function abacus_refuse_change();
create trigger draw_is_append_only before update or delete or truncate on draw
    for each statement execute function abacus_refuse_change('but for erasure');
create trigger draw_changes_in_name_only before update on draw
    for each row execute function abacus_rename_only();
create trigger draw_rows_stay before delete on draw
    for each row execute function abacus_refuse_change();

create trigger seal_is_append_only
    before update of number, sealed_at, accounts, transfers, root, snapshot, previous, hash or delete or truncate
    on seal
    for each statement execute function abacus_refuse_change();
create trigger sealed_leaf_is_append_only before update or delete or truncate on sealed_leaf
    for each statement execute function abacus_refuse_change();
create trigger sealed_leaf_rows_stay before update or delete on sealed_leaf
    for each row execute function abacus_refuse_change();
create trigger seal_slice_is_append_only before update or delete or truncate on seal_slice
    for each statement execute function abacus_refuse_change();

create trigger slice_is_append_only before update or delete or truncate on slice
    for each statement execute function abacus_refuse_change();
create trigger key_slice_is_append_only before update or delete or truncate on key_slice
    for each statement execute function abacus_refuse_change();
create trigger key_slice_rows_stay before update or delete on key_slice
    for each row execute function abacus_refuse_change();

create trigger rate_card_is_append_only before update or delete or truncate on rate_card
    for each statement execute function abacus_refuse_change();
create trigger rate_card_is_announced after insert on rate_card
    for each statement execute function abacus_announce_change('rate_card');
create trigger rate_card_withdrawal_is_append_only before update or delete or truncate on rate_card_withdrawal
    for each statement execute function abacus_refuse_change();
create trigger rate_card_withdrawal_is_announced after insert on rate_card_withdrawal
    for each statement execute function abacus_announce_change('rate_card');
create trigger assumption_is_append_only before update or delete or truncate on assumption
    for each statement execute function abacus_refuse_change();

create trigger partner_is_announced after insert or update or delete on partner
    for each statement execute function abacus_announce_change('partner');
create trigger partner_key_is_announced after insert or update of expires_at, digest or delete on partner_key
    for each statement execute function abacus_announce_change('partner');
create trigger allowance_is_announced
    after insert or update of per_award, per_member_day, per_day, in_total or delete
    on allowance
    for each statement execute function abacus_announce_change('partner');
create trigger rejection_is_append_only before update or delete or truncate on rejection
    for each statement execute function abacus_refuse_change('but for erasure');
create trigger rejection_changes_in_name_only before update on rejection
    for each row execute function abacus_rename_only();
create trigger rejection_rows_stay before delete on rejection
    for each row execute function abacus_refuse_change();

create trigger approval_keeps_what_was_asked before update on approval
    for each row execute function abacus_keep_what_was_asked();
create trigger approval_stays before delete or truncate on approval
    for each statement execute function abacus_refuse_change();
create trigger audit_log_is_append_only before update or delete or truncate on audit_log
    for each statement execute function abacus_refuse_change('but for erasure');
create trigger audit_log_changes_in_name_only before update on audit_log
    for each row execute function abacus_forget_only();

create trigger month_close_is_append_only before update or delete or truncate on month_close
    for each statement execute function abacus_refuse_change();
create trigger erasure_is_append_only before update or delete or truncate on erasure
    for each statement execute function abacus_refuse_change();

create trigger event_source_is_append_only before update or delete or truncate on event_source
    for each statement execute function abacus_refuse_change();
create trigger event_source_is_announced after insert on event_source
    for each statement execute function abacus_announce_change('event_source');
create trigger counter_definition_is_append_only before update or delete or truncate on counter_definition
    for each statement execute function abacus_refuse_change();
create trigger counter_definition_is_announced after insert on counter_definition
    for each statement execute function abacus_announce_change('counter_definition');
create trigger counter_retirement_is_append_only before update or delete or truncate on counter_retirement
    for each statement execute function abacus_refuse_change();
create trigger counter_retirement_is_announced after insert on counter_retirement
    for each statement execute function abacus_announce_change('counter_definition');
create trigger counter_series_is_append_only before update or delete or truncate on counter_series
    for each statement execute function abacus_refuse_change();
create trigger counter_start_is_append_only before update or delete or truncate on counter_start
    for each statement execute function abacus_refuse_change();
create trigger counter_setting_is_announced after insert or update or delete on counter_setting
    for each statement execute function abacus_announce_change('counter_setting');
create trigger segment_version_is_never_changed before update or truncate on segment_version
    for each statement execute function abacus_refuse_change();
create trigger segment_version_is_announced after insert on segment_version
    for each statement execute function abacus_announce_change('segment');
create trigger member_number_is_never_changed before update or truncate on member_number
    for each statement execute function abacus_refuse_change();
create trigger member_number_rows_stay before update on member_number
    for each row execute function abacus_refuse_change();
create trigger member_number_erased_is_append_only before update or delete or truncate on member_number_erased
    for each statement execute function abacus_refuse_change();
create trigger member_number_erased_is_announced after insert on member_number_erased
    for each statement execute function abacus_announce_change('segment');

create trigger downstream_is_append_only before update or delete or truncate on downstream
    for each statement execute function abacus_refuse_change();
create trigger downstream_is_announced after insert on downstream
    for each statement execute function abacus_announce_change('downstream');
create trigger downstream_secret_is_announced after insert or update on downstream_secret
    for each statement execute function abacus_announce_change('downstream');
create trigger campaign_documents_are_append_only
before update of name, version, document, country, starts_at, ends_at, drafted_at, drafted_by or delete or truncate
    on campaign
    for each statement execute function abacus_refuse_change();
create trigger campaign_is_announced after insert or update on campaign
    for each statement execute function abacus_announce_change('campaign');

-- The rights of the application's role: to columns where it changes only some.

grant usage on schema public to abacus_app;
grant select on alembic_version to abacus_app;

grant select, insert on claim to abacus_app;
grant select, insert, update (balance, held, earned_total, expires_on, last_seq, head_hash, last_xid, lots_closed,
    lots_drawn, lapsed_seq, lifetime, active_until)
    on account to abacus_app;
grant select, insert on transfer to abacus_app;
grant select, insert on draw to abacus_app;
grant select, insert, update (status, settled_seq) on hold to abacus_app;

grant select, insert, update (xid, member_id, program, seq, moved_at) on relay_cursor to abacus_app;
grant select, insert, update (published_at) on seal to abacus_app;
grant select on sealed_leaf to abacus_app;
grant select, insert on seal_slice to abacus_app;

grant select on slice to abacus_app;
grant select, insert on key_slice to abacus_app;

grant select, insert on rate_card to abacus_app;
grant select, insert on rate_card_withdrawal to abacus_app;
grant select, insert on assumption to abacus_app;

grant select, insert, delete, update (tier, reason, actor, set_at) on membership to abacus_app;
grant select, insert, update (country, tier, until, last_seq, changes) on account_tier to abacus_app;
grant select, insert, update (earned, tier, threshold) on tier_tally to abacus_app;
grant select, insert, update (published_at) on tier_change to abacus_app;
grant select, insert, update (rolled_through) on tier_calendar to abacus_app;
grant select, insert, update (stepped_down, kept, finished_at) on tier_roll to abacus_app;

grant select, insert, update (swept_at, finished_at, found_day, found_member, found_program)
    on expiry_run to abacus_app;
grant select, insert, update (body, sent_at, done_at, expired, skipped, points) on expiry_batch to abacus_app;

grant select, insert, update (reason, detail, fingerprint, posted_fingerprint, status, set_aside_at, replayed_at,
    replays)
    on quarantine to abacus_app;

grant select, insert, update (name, fixed_points, computed_points, countries, card_scope, requests_per_minute,
    signing_secret, disabled_at, may_spend, may_adjust, may_see_others, sources, may_count)
    on partner to abacus_app;
grant select, insert, update (expires_at, last_used_at) on partner_key to abacus_app;
grant select, insert (partner_id, per_award, per_member_day, per_day, in_total), update (used, day, used_that_day)
    on allowance to abacus_app;
grant select, insert, update (per_award, per_member_day, per_day, in_total, used, day, used_that_day, elsewhere,
    elsewhere_that_day)
    on allowance_part to abacus_app;
grant select, insert, update (used) on allowance_member to abacus_app;
grant select, insert on rejection to abacus_app;
grant select, insert, update (program, points, expires_on, explanation, taken_until, queued_at, lifetime, provisional)
    on partner_award to abacus_app;
grant select, insert, delete on partner_request to abacus_app;
grant select, insert, delete, update (url, secret, former_secret, former_secret_until, disabled_at, disabled_why)
    on webhook to abacus_app;
grant select, insert, delete, update (attempts, due_at, retry_until, taken_until, delivered_at, given_up_at,
    last_status, last_error)
    on webhook_delivery to abacus_app;
grant select, insert, update (xid, key, moved_at) on webhook_cursor to abacus_app;

grant select, insert, update (grants, disabled_at) on person to abacus_app;
grant select, insert, update (revoked_at, last_used_at) on person_token to abacus_app;
grant select, insert (approval_id, kind, subject, country, summary, document, digest, asked_by, asked_at), update
    (status, decided_by, decided_at, note)
    on approval to abacus_app;
grant select, insert on audit_log to abacus_app;

grant select, insert on month_close to abacus_app;
grant select on erasure to abacus_app;

grant select, insert, delete, update (due_at, told_at) on notice to abacus_app;
grant select, insert, delete, update (due_at, attempts, failing_since, last_error, sent_at, parked_at)
    on notification to abacus_app;
grant select, insert, update (locale, channels, set_by, set_at) on notification_preference to abacus_app;

grant select, insert on event_source to abacus_app;
grant select, insert on counter_definition to abacus_app;
grant select, insert on counter_retirement to abacus_app;
grant select, insert, update (count, upto) on counter_row to abacus_app;
grant select on counter_partition to abacus_app;
grant select, insert on counter_series to abacus_app;
grant select, insert on counter_start to abacus_app;
grant select, insert, update (upto, starts, seen, counted, ignored, repeated, set_aside, last_offset, last_print,
    moved_at)
    on counter_tally to abacus_app;
grant select, insert, update (value, set_at, set_by) on counter_setting to abacus_app;
grant select, insert, delete on segment_version to abacus_app;
grant select, insert on member_number to abacus_app;
grant select, insert, update (next) on member_number_next to abacus_app;
grant select on member_number_erased to abacus_app;

grant select, insert on downstream to abacus_app;
grant select, insert, update (secret, former_secret, former_secret_until) on downstream_secret to abacus_app;
grant select, insert, update (free_at) on pace to abacus_app;
grant select, insert, update (status, changed_at, changed_by, approved_by, approved_at, reason)
    on campaign to abacus_app;
grant select, insert on campaign_claim to abacus_app;
grant select, insert, update (events, runs, points, cost, marks, variant) on campaign_progress to abacus_app;
grant select, insert, update (runs, points, cost) on campaign_pot to abacus_app;
grant select, insert, update (version, runs, points, cost) on campaign_slot to abacus_app;
grant select, insert, update (due_at, attempts, failing_since, done_at, refused_at, reason)
    on campaign_action to abacus_app;
grant select, insert, update (events, points, cost) on campaign_sum to abacus_app;
grant select, insert, update (events) on campaign_seen to abacus_app;

grant select, insert, delete, update (seen_at, zone, ended_at, ended_by) on console_session to abacus_app;
grant select, insert, update (hash, set_at, set_by) on console_password to abacus_app;
grant select, insert, delete, update (secret, set_at, set_by, last_step) on console_authenticator to abacus_app;
grant select, insert, delete, update (used_at) on console_link to abacus_app;
grant select, insert, delete on console_form to abacus_app;
grant select, insert, delete, update (state, runner, token_prefix, token_digest, started_at, seen_at, ended_at,
    progress, exit_code, told, output)
    on console_errand to abacus_app;
grant select, insert, delete on console_errand_file to abacus_app;
grant select, insert, delete on console_selection to abacus_app;

grant select, insert, delete, update (seen_at, report) on worker_process to abacus_app;
grant select, insert, update (full_at) on rate_limit to abacus_app;
grant select, insert, delete, update (awards, points) on points_pulse to abacus_app;
