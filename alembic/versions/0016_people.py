"""People with roles and tokens, approvals by a second person, and the log of what was done.

Adjustments that waited for a second person become approvals. One that was approved and cut off is pending again: it was
approved by a name that was typed. The log and the approvals name members; the triggers let an erasure take the names
out, and nothing else.
"""

import hashlib
import json
from typing import Any

from alembic import op
from sqlalchemy import text

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

TABLES = (
    """
    create table person (
        person_id text collate "C" constraint person_pkey primary key,
        grants text[] not null,
        created_at timestamptz not null,
        created_by text not null,
        disabled_at timestamptz
    )
    """,
    """
    create table person_token (
        prefix text collate "C" constraint person_token_pkey primary key,
        person_id text collate "C" not null,
        digest bytea not null,
        created_at timestamptz not null,
        created_by text not null,
        expires_at timestamptz not null,
        revoked_at timestamptz,
        last_used_at timestamptz
    )
    """,
    "create index person_token_person_id_idx on person_token (person_id)",
    """
    create table audit_log (
        entry_id uuid constraint audit_log_pkey primary key,
        at timestamptz not null,
        actor text not null,
        authenticated boolean not null,
        deed text not null,
        subject text not null,
        country text,
        details json not null
    )
    """,
    "create index audit_log_at_idx on audit_log (at)",
    "create index audit_log_subject_idx on audit_log (subject)",
    """
    create trigger audit_log_is_append_only before update or delete or truncate on audit_log
        for each statement execute function abacus_refuse_change('but for erasure')
    """,
)

APPROVAL = (
    """
    create table approval (
        approval_id uuid constraint approval_pkey primary key,
        kind text not null,
        subject text not null,
        country text,
        summary text not null,
        document text not null,
        digest text not null,
        asked_by text not null,
        asked_at timestamptz not null,
        status text not null default 'pending',
        decided_by text,
        decided_at timestamptz,
        note text,
        before_people boolean not null default false,
        constraint approval_status_check check (status in ('pending', 'approved', 'done', 'rejected', 'void')),
        constraint approval_second_person_check check (
            status not in ('approved', 'done') or before_people
            or (decided_by is not null and decided_by is distinct from asked_by and decided_by like 'person:%')
        )
    )
    """,
    """
    create unique index approval_open_idx on approval (kind, subject) where status in ('pending', 'approved')
    """,
    "create index approval_asked_at_idx on approval (asked_at)",
)

# What was asked for stays, and what is decided stays decided; but for an erasure, by an owner of the table.
KEEP_WHAT_WAS_ASKED = """
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
end $$
"""

APPROVAL_RIGHTS = (
    """
    create trigger approval_keeps_what_was_asked before update on approval
        for each row execute function abacus_keep_what_was_asked()
    """,
    """
    create trigger approval_stays before delete or truncate on approval
        for each statement execute function abacus_refuse_change()
    """,
    "grant select on approval to abacus_app",
    """
    grant insert (approval_id, kind, subject, country, summary, document, digest, asked_by, asked_at)
        on approval to abacus_app
    """,
    "grant update (status, decided_by, decided_at, note) on approval to abacus_app",
)

ADJUSTMENT = (
    """
    create table adjustment (
        member_id text collate "C" not null,
        adjustment_id uuid not null,
        key text collate "C" not null,
        program text collate "C" not null,
        country text not null,
        points bigint not null,
        expires_on date not null,
        lifetime boolean not null,
        reason text not null,
        actor text not null,
        asked_by text,
        fingerprint text not null,
        status text not null,
        asked_at timestamptz not null,
        decided_by text,
        decided_at timestamptz,
        note text,
        constraint adjustment_pkey primary key (member_id, adjustment_id)
    )
    """,
    "create index adjustment_asked_at_idx on adjustment (asked_at) where status = 'pending'",
    "create index adjustment_adjustment_id_idx on adjustment (adjustment_id)",
    "grant select, insert, update on adjustment to abacus_app",
)

INSERT = text("""
insert into approval (approval_id, kind, subject, country, summary, document, digest, asked_by, asked_at, status,
    decided_by, decided_at, note, before_people)
values (:approval_id, 'adjustment', :subject, :country, :summary, :document, :digest, :asked_by, :asked_at, :status,
    :decided_by, :decided_at, :note, :before_people)
""")

# An erasure may take a member's name out of what was written, and change nothing else.
FORGET_ONLY = """
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
end $$
"""

RIGHTS = (
    """
    create trigger audit_log_changes_in_name_only before update on audit_log
        for each row execute function abacus_forget_only()
    """,
    "grant select, insert on person, person_token, audit_log to abacus_app",
    "grant update (grants, disabled_at) on person to abacus_app",
    "grant update (revoked_at, last_used_at) on person_token to abacus_app",
)


def canonical(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def approval_of(row: Any) -> dict[str, Any]:
    """An adjustment as an approval. What a partner called its actor is the person on whose behalf it asked."""
    partner = row.asked_by is not None
    source = f"partner:{row.asked_by}" if partner else f"login:{row.actor}"
    document = canonical(
        {
            "key": row.key,
            "member_id": row.member_id,
            "program": row.program,
            "country": row.country,
            "fingerprint": row.fingerprint,
            "points": row.points,
            "reason": row.reason,
            "actor": row.asked_by if partner else row.actor,
            "source": source,
            "expires_on": row.expires_on.isoformat(),
            "lifetime": row.lifetime,
            "on_behalf_of": row.actor if partner else None,
        }
    )
    facts = canonical(["adjustment", row.key, row.country, document])
    is_open = row.status in {"pending", "approved"}
    whose = f"{row.program} of {row.member_id} in {row.country}"
    return {
        "approval_id": row.adjustment_id,
        "subject": row.key,
        "country": row.country,
        "summary": f"adjust {row.points:+,} {whose}: {row.reason}",
        "document": document,
        "digest": hashlib.sha256(facts.encode()).hexdigest(),
        "asked_by": source,
        "asked_at": row.asked_at,
        "status": "pending" if is_open else "done" if row.status == "posted" else "rejected",
        "decided_by": None if is_open or row.decided_by is None else f"login:{row.decided_by}",
        "decided_at": None if is_open else row.decided_at,
        "note": row.note,
        "before_people": row.status == "posted",
    }


def upgrade() -> None:
    for statement in (*TABLES, FORGET_ONLY, *RIGHTS, *APPROVAL):
        op.execute(statement)
    connection = op.get_bind()
    for row in connection.execute(text("select * from adjustment")):
        connection.execute(INSERT, approval_of(row))
    for statement in (KEEP_WHAT_WAS_ASKED, *APPROVAL_RIGHTS, "drop table adjustment"):
        op.execute(statement)


def downgrade() -> None:
    """Refused once something was asked for: the table of before cannot say who decided."""
    op.execute("""
        do $$ begin
            if exists (select from approval) then
                raise exception 'there are approvals, which the revision before does not know';
            end if;
        end $$
    """)
    for statement in ADJUSTMENT:
        op.execute(statement)
    for table in ("approval", "audit_log", "person_token", "person"):
        op.execute(f"drop table {table}")
    op.execute("drop function abacus_keep_what_was_asked()")
    op.execute("drop function abacus_forget_only()")
