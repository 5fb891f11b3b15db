"""Partners that may exchange points, and the timeline by which the house sees that it was restored."""

from alembic import op

revision = "0101"
down_revision = "0100"
branch_labels = None
depends_on = None

# One row. `timeline` is that of the server's log when the exchanger looked last. Nothing is sent to partners while
# `restored_to` is there: the moment since which their statements are to be matched, each as it is after `noticed_at`.
TIMELINE = """
create table exchange_timeline (
    one boolean primary key default true check (one),
    timeline text not null,
    seen_at timestamptz not null,
    restored_to timestamptz,
    noticed_at timestamptz,
    by text not null
);
grant select, insert, update (timeline, seen_at, restored_to, noticed_at, by) on exchange_timeline to abacus_app
"""


def upgrade() -> None:
    op.execute("alter table partner add column may_exchange boolean not null default false")
    op.execute("grant update (may_exchange) on partner to abacus_app")
    for statement in TIMELINE.split(";\n"):
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table exchange_timeline")
    op.execute("alter table partner drop column may_exchange")
