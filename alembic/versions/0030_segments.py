"""Segments of members, in versions that are never changed, over numbers of members."""

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table segment_version (
        name text collate "C" not null,
        version integer not null,
        country text,
        how text not null,
        size integer not null,
        created_at timestamptz not null,
        created_by text not null,
        members bytea not null,
        constraint segment_version_pkey primary key (name, version)
    )
    """,
    "alter table segment_version alter column members set storage external",  # it is compressed already
    """
    create table member_number (
        member_id text collate "C" not null,
        number integer not null,
        constraint member_number_pkey primary key (member_id)
    )
    """,
    "create index member_number_number_idx on member_number (number)",
    """
    create table member_number_next (
        "of" text collate "C" not null,
        "next" integer not null,
        constraint member_number_next_pkey primary key ("of")
    )
    """,
    """
    create table member_number_erased (
        number integer not null,
        constraint member_number_erased_pkey primary key (number)
    )
    """,
    """
    create trigger segment_version_is_never_changed before update or truncate on segment_version
        for each statement execute function abacus_refuse_change()
    """,
    """
    create trigger member_number_is_never_changed before update or truncate on member_number
        for each statement execute function abacus_refuse_change()
    """,
    """
    create trigger member_number_erased_is_append_only before update or delete or truncate on member_number_erased
        for each statement execute function abacus_refuse_change()
    """,
    """
    create trigger segment_version_is_announced after insert on segment_version
        for each statement execute function abacus_announce_change('segment')
    """,
    """
    create trigger member_number_erased_is_announced after insert on member_number_erased
        for each statement execute function abacus_announce_change('segment')
    """,
    "grant select, insert, delete on segment_version to abacus_app",
    "grant select, insert on member_number to abacus_app",
    'grant select, insert, update ("next") on member_number_next to abacus_app',
    "grant select on member_number_erased to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    for table in ("segment_version", "member_number", "member_number_next", "member_number_erased"):
        op.execute(f"drop table {table}")
