"""The log is chained, tells its time itself, and keeps what cards, people and partners were when it was written.

An entry gets its number and its hash soon after it is written. The entries of before are marked: what became of them
until now is not proven. An entry about a card, a person or a partner keeps its state at the end of the transaction;
what was there before is entered as it is found.
"""

from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

COLUMNS = (
    """
    alter table audit_log
        add column number bigint,
        add column hash bytea,
        add column salt uuid default gen_random_uuid(),
        add column body bytea,
        add column of_before boolean not null default true,
        add column stated text,
        add column state json
    """,
    "alter table audit_log alter column of_before set default false",
    "create unique index audit_log_number_idx on audit_log (number)",
    "create index audit_log_unchained_idx on audit_log (at, entry_id) where number is null",
    "create index audit_log_stated_idx on audit_log (stated, at) where stated is not null",
)

# What an entry was written with never changes, but for an erasure. Its place in the chain is given once.
CHANGES = (
    "drop trigger audit_log_is_append_only on audit_log",
    "drop trigger audit_log_changes_in_name_only on audit_log",
    """
    create trigger audit_log_is_append_only before
        update of entry_id, at, actor, authenticated, deed, subject, country, details, salt, body, of_before
        or delete or truncate
        on audit_log for each statement execute function abacus_refuse_change('but for erasure')
    """,
    """
    create function abacus_place_or_forget_only() returns trigger language plpgsql as $$
    declare
        is_owners boolean := (select pg_has_role(current_user, relowner, 'usage') from pg_class where oid = tg_relid);
        kept record := new;
    begin
        if is_owners and coalesce(current_setting('abacus.erasing', true), '') <> '' then
            kept.subject := old.subject;
            kept.details := old.details;
            kept.salt := old.salt;
            kept.body := old.body;
        elsif old.number is null and old.hash is null and new.number is not null and new.hash is not null then
            kept.number := null;
            kept.hash := null;
        elsif is_owners and old.number is null and old.state is null then
            kept.state := null;
        end if;
        if kept *<> old then
            raise exception '% is append-only: more than a name or a place would change', tg_table_name
                using errcode = 'restrict_violation';
        end if;
        return new;
    end $$
    """,
    """
    create trigger audit_log_changes_in_name_and_place_only before update on audit_log
        for each row execute function abacus_place_or_forget_only()
    """,
)

# The thing whose state an entry about this subject keeps. Versions of a card are one thing.
STATED = """
create function abacus_stated(subject text) returns text immutable strict parallel safe language sql as $$
    select case split_part(subject, ':', 1)
        when 'card' then regexp_replace(subject, '@[0-9]+$', '')
        when 'partner' then subject
        when 'person' then subject
    end
$$
"""

# What it is at present, secrets as digests of themselves or not at all; null where it is not there.
STATE_OF = """
do $make$ begin execute format($create$
    create function abacus_state_of(stated text) returns jsonb
        stable strict language plpgsql security definer
        set search_path = %I, pg_temp set timezone = 'UTC' set datestyle = 'ISO' as $body$
    declare
        kind text := split_part(stated, ':', 1);
        id text := substr(stated, length(kind) + 2);
    begin
        case kind
        when 'card' then
            return (
                select jsonb_build_object('versions', jsonb_object_agg(c.version, jsonb_build_object(
                    'effective_from', c.effective_from,
                    'document', encode(sha256(convert_to(c.document::text, 'UTF8')), 'hex'),
                    'published_at', c.published_at, 'published_by', c.published_by, 'approved_by', c.approved_by,
                    'withdrawn_at', w.withdrawn_at
                )))
                from rate_card c left join rate_card_withdrawal w using (scope, version) where c.scope = id
                having count(*) > 0
            );
        when 'partner' then
            return (
                select to_jsonb(p) - array['partner_id', 'signing_secret'] || jsonb_build_object(
                    'limits', (
                        select jsonb_build_array(a.per_award, a.per_member_day, a.per_day, a.in_total)
                        from allowance a where a.partner_id = id
                    ),
                    'keys', (
                        select jsonb_object_agg(k.prefix, jsonb_build_object(
                            'digest', encode(sha256(k.digest), 'hex'), 'expires_at', k.expires_at
                        ))
                        from partner_key k where k.partner_id = id
                    )
                )
                from partner p where p.partner_id = id
            );
        when 'person' then
            return (
                select to_jsonb(p) - 'person_id' || jsonb_build_object(
                    'tokens', (
                        select jsonb_object_agg(t.prefix, jsonb_build_object(
                            'digest', encode(sha256(t.digest), 'hex'), 'expires_at', t.expires_at,
                            'revoked_at', t.revoked_at
                        ))
                        from person_token t where t.person_id = id
                    ),
                    'password', (
                        select encode(sha256(convert_to(w.hash, 'UTF8')), 'hex')
                        from console_password w where w.person_id = id
                    )
                )
                from person p where p.person_id = id
            );
        else
            return null;
        end case;
    end
    $body$
$create$, current_schema()); end $make$
"""

# Entries about one thing are written one after the other, so the last of them has what it is now.
TELLS = (
    """
    create function abacus_tell_the_time() returns trigger language plpgsql as $$
    begin
        new.stated := abacus_stated(new.subject);
        if new.stated is not null then
            perform pg_advisory_xact_lock(hashtext('abacus log'), hashtext(new.stated));
        end if;
        new.at := clock_timestamp();
        return new;
    end $$
    """,
    """
    create trigger audit_log_tells_the_time before insert on audit_log
        for each row execute function abacus_tell_the_time()
    """,
    """
    do $make$ begin execute format($create$
        create function abacus_keep_state() returns trigger language plpgsql security definer
            set search_path = %I, pg_temp as $body$
        begin
            update audit_log set state = abacus_state_of(stated)::json
            where entry_id = new.entry_id and number is null and state is null;
            return null;
        end
        $body$
    $create$, current_schema()); end $make$
    """,
    """
    create constraint trigger audit_log_keeps_state after insert on audit_log deferrable initially deferred
        for each row when (new.stated is not null) execute function abacus_keep_state()
    """,
)

FOUND = """
insert into audit_log (entry_id, at, actor, authenticated, deed, subject, details)
select gen_random_uuid(), now(), 'login:abacus migrate', false, 'run-jobs', subject, '{"did":"found"}'
from (
    select 'card:' || scope from rate_card union
    select 'partner:' || partner_id from partner union
    select 'person:' || person_id from person
) as found (subject)
order by subject
"""

RIGHTS = (
    "revoke insert on audit_log from abacus_app",
    """
    grant insert (entry_id, at, actor, authenticated, deed, subject, country, details),
        update (number, hash) on audit_log to abacus_app
    """,
    "revoke execute on function abacus_keep_state(), abacus_state_of(text) from public",
    "grant execute on function abacus_state_of(text) to abacus_app",
)

# The end of the chain: else its last entries could go without a gap.
HEAD = (
    "create table audit_head (one boolean default true, number bigint not null, hash bytea not null)",
    """
    alter table audit_head
        add constraint audit_head_pkey primary key (one), add constraint audit_head_one_check check (one)
    """,
    """
    create trigger audit_head_stays before delete or truncate on audit_head
        for each statement execute function abacus_refuse_change()
    """,
    "grant select, insert, update (number, hash) on audit_head to abacus_app",
)

# A seal has the log as well. Those of the first format do not.
SEALS = "alter table seal add column log_entries bigint, add column log_head bytea"


def upgrade() -> None:
    for statement in (*COLUMNS, *CHANGES, STATED, STATE_OF, *TELLS, *RIGHTS, FOUND, *HEAD, SEALS):
        op.execute(statement)
    op.execute("set constraints all immediate")  # else the table could not be altered by what comes next
    op.execute("set constraints all deferred")


def downgrade() -> None:
    """Refused once a seal has the log: without the columns it could not be computed again."""
    op.execute("""
        do $$ begin
            if exists (select from seal where format > 1) then
                raise exception 'there are seals over the log, which the revision before does not know';
            end if;
        end $$
    """)
    op.execute("alter table seal drop column log_entries, drop column log_head")
    op.execute("drop table audit_head")
    for trigger in ("keeps_state", "tells_the_time", "changes_in_name_and_place_only", "is_append_only"):
        op.execute(f"drop trigger audit_log_{trigger} on audit_log")
    for function in (
        "abacus_keep_state()",
        "abacus_tell_the_time()",
        "abacus_state_of(text)",
        "abacus_stated(text)",
        "abacus_place_or_forget_only()",
    ):
        op.execute(f"drop function {function}")
    op.execute("""
        alter table audit_log drop column number, drop column hash, drop column salt, drop column body,
            drop column of_before, drop column stated, drop column state
    """)
    op.execute("""
        create trigger audit_log_is_append_only before update or delete or truncate on audit_log
            for each statement execute function abacus_refuse_change('but for erasure')
    """)
    op.execute("""
        create trigger audit_log_changes_in_name_only before update on audit_log
            for each row execute function abacus_forget_only()
    """)
    op.execute("revoke all on audit_log from abacus_app")
    op.execute("grant select, insert on audit_log to abacus_app")
