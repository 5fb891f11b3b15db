"""Messages to partners lie with the members that they are about: in a ledger that is cut already, in their slices."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from abacus.platform.slices.migration_steps import hold, let_go

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

RIGHTS = (
    "select, insert, delete,"
    " update (attempts, due_at, retry_until, taken_until, delivered_at, given_up_at, last_status, last_error)"
)

# The body of a message about somebody who was erased names nobody.
NAMED = "update webhook_delivery set member_id = coalesce(body::json #>> '{data,member_id}', '')"

ARE_NAMED = """
select exists (select from pg_attribute where attrelid = 'webhook_delivery'::regclass and attname = 'member_id')
"""


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice"))
    return [f"slice_{number}" for number in range(count or 0)]


def _rows(slices: Sequence[str]) -> str:
    return " union all ".join(f"select * from {schema}.webhook_delivery" for schema in slices)


def _name_members() -> None:
    if op.get_bind().scalar(sa.text(ARE_NAMED)):
        return
    op.execute("alter table webhook_delivery add member_id text collate \"C\" not null default ''")
    op.execute(NAMED)
    op.execute("alter table webhook_delivery alter member_id drop default")


def before(_slices: int) -> None:
    _name_members()
    hold("webhook_delivery")


def in_slice(number: int, slices: int) -> None:
    schema = f"slice_{number}"
    op.execute(f"create table {schema}.webhook_delivery (like public.webhook_delivery including all)")
    op.execute(f"grant {RIGHTS} on {schema}.webhook_delivery to abacus_app")
    op.execute(
        f"insert into {schema}.webhook_delivery select * from public.webhook_delivery"
        f" where abacus_slice_of(member_id, {slices}) = {number}"
    )


def upgrade() -> None:
    _name_members()
    slices = _slices()
    if not slices:
        return
    let_go()
    op.execute("drop table public.webhook_delivery")
    op.execute(f"create view public.webhook_delivery as {_rows(slices)}")
    op.execute("grant select on public.webhook_delivery to abacus_app")


def downgrade() -> None:
    slices = _slices()
    if slices:
        op.execute("drop view public.webhook_delivery")
        op.execute(f"create table public.webhook_delivery (like {slices[0]}.webhook_delivery including all)")
        op.execute(f"grant {RIGHTS} on public.webhook_delivery to abacus_app")
        op.execute(f"insert into public.webhook_delivery {_rows(slices)}")
        for schema in slices:
            op.execute(f"drop table {schema}.webhook_delivery")
    op.execute("alter table webhook_delivery drop member_id")
