"""A revision after the last, for tests of migrations that go from slice to slice: the table `note` goes into them."""

import sqlalchemy as sa
from alembic import op

from abacus.platform.migrations import head_revision
from abacus.platform.slices.migration_steps import hold, let_go

revision = "9999"
down_revision = head_revision()
branch_labels = None
depends_on = None


def before(_slices: int) -> None:
    hold("note")


def in_slice(number: int, slices: int) -> None:
    op.execute(f"create table slice_{number}.note (like public.note including all)")
    op.execute(
        f"insert into slice_{number}.note select * from public.note"
        f" where abacus_slice_of(member_id, {slices}) = {number}"
    )


def upgrade() -> None:
    slices = op.get_bind().scalar(sa.text("select count(*) from slice"))
    if slices:
        let_go()
        op.execute("drop table public.note")
        rows = " union all ".join(f"select * from slice_{number}.note" for number in range(slices))
        op.execute(f"create view public.note as {rows}")
