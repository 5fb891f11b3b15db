"""Errands of the console: commands that it runs for people, with what they printed and wrote."""

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table console_errand (
        errand_id uuid not null,
        kind text collate "C" not null,
        subject text collate "C" not null,
        country text collate "C",
        command text not null,
        arguments text[] not null,
        papers text not null,
        keeps text[] not null,
        asked_by text collate "C" not null,
        asked_at timestamptz not null,
        state text collate "C" not null,
        runner uuid,
        token_prefix text collate "C",
        token_digest bytea,
        started_at timestamptz,
        seen_at timestamptz,
        ended_at timestamptz,
        progress text,
        exit_code integer,
        told text,
        output bytea,
        constraint console_errand_pkey primary key (errand_id)
    )
    """,
    "create index console_errand_newest_idx on console_errand (kind, subject, asked_at desc)",
    "create index console_errand_asked_at_idx on console_errand (asked_at desc, errand_id)",
    """
    create index console_errand_open_idx on console_errand (asked_at)
    where state = 'waiting' or state = 'running'
    """,
    "create unique index console_errand_token_idx on console_errand (token_prefix)",
    """
    create table console_errand_file (
        errand_id uuid not null,
        name text collate "C" not null,
        content bytea not null,
        constraint console_errand_file_pkey primary key (errand_id, name)
    )
    """,
    "grant select, insert, delete on console_errand to abacus_app",
    """
    grant update (state, runner, token_prefix, token_digest, started_at, seen_at, ended_at, progress, exit_code, told,
        output) on console_errand to abacus_app
    """,
    "grant select, insert, delete on console_errand_file to abacus_app",
    "grant delete on console_session, console_link, console_form to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("revoke delete on console_session, console_link, console_form from abacus_app")
    for table in ("console_errand_file", "console_errand"):
        op.execute(f"drop table {table}")
