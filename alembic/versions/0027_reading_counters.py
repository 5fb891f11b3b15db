"""Reading counters: the partners that may, and settings that are in force everywhere at once."""

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

STATEMENTS = (
    "alter table partner add column may_count boolean not null default false",
    "grant update (may_count) on partner to abacus_app",
    """
    create table counter_setting (
        name text collate "C" not null,
        value integer not null,
        set_at timestamptz not null,
        set_by text not null,
        constraint counter_setting_pkey primary key (name)
    )
    """,
    "grant select, insert, update (value, set_at, set_by) on counter_setting to abacus_app",
    """
    create trigger counter_setting_is_announced after insert or update or delete on counter_setting
        for each statement execute function abacus_announce_change('counter_setting')
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table counter_setting")
    op.execute("alter table partner drop column may_count")
