"""The console: sessions, passwords, authenticators, links that let in once, and forms that took effect."""

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table console_session (
        prefix text collate "C" not null,
        person_id text collate "C" not null,
        digest bytea not null,
        way text not null,
        started_at timestamptz not null,
        seen_at timestamptz not null,
        zone text not null,
        address text not null,
        browser text not null,
        ended_at timestamptz,
        ended_by text,
        constraint console_session_pkey primary key (prefix)
    )
    """,
    "create index console_session_person_id_idx on console_session (person_id)",
    """
    create table console_password (
        person_id text collate "C" not null,
        hash text not null,
        set_at timestamptz not null,
        set_by text not null,
        constraint console_password_pkey primary key (person_id)
    )
    """,
    """
    create table console_authenticator (
        person_id text collate "C" not null,
        secret text not null,
        set_at timestamptz not null,
        set_by text not null,
        last_step bigint not null,
        constraint console_authenticator_pkey primary key (person_id)
    )
    """,
    """
    create table console_link (
        prefix text collate "C" not null,
        person_id text collate "C" not null,
        digest bytea not null,
        made_at timestamptz not null,
        made_by text not null,
        expires_at timestamptz not null,
        used_at timestamptz,
        constraint console_link_pkey primary key (prefix)
    )
    """,
    """
    create table console_form (
        key text collate "C" not null,
        person_id text collate "C" not null,
        done_at timestamptz not null,
        constraint console_form_pkey primary key (key)
    )
    """,
    "grant select, insert, update (seen_at, zone, ended_at, ended_by) on console_session to abacus_app",
    "grant select, insert, update (hash, set_at, set_by) on console_password to abacus_app",
    "grant select, insert, delete, update (secret, set_at, set_by, last_step) on console_authenticator to abacus_app",
    "grant select, insert, update (used_at) on console_link to abacus_app",
    "grant select, insert on console_form to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    for table in ("console_form", "console_link", "console_authenticator", "console_password", "console_session"):
        op.execute(f"drop table {table}")
