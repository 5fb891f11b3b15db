"""Points may vest later: a transfer has the day, and its account the points that are pending, by day."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None

COLUMNS = {"transfer": ("vests_on date", "vests_at timestamptz"), "account": ("vesting bigint[]",)}


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice"))
    return [f"slice_{number}" for number in range(count or 0)]


def _add(prefix: str = "") -> None:
    """Without a prefix in the schema of the session: there is a sandbox, too. No row is rewritten for it."""
    for table, columns in COLUMNS.items():
        op.execute(f"alter table {prefix}{table} {', '.join(f'add column {each}' for each in columns)}")
    op.execute(f"grant update (vesting) on {prefix}account to abacus_app")


def _drop(prefix: str = "") -> None:
    for table, columns in COLUMNS.items():
        names = [each.partition(" ")[0] for each in columns]
        op.execute(f"alter table {prefix}{table} {', '.join(f'drop column {each}' for each in names)}")


def _views(slices: Sequence[str]) -> None:
    for table in COLUMNS:
        rows = " union all ".join(f"select * from {schema}.{table}" for schema in slices)
        op.execute(f"create or replace view public.{table} as {rows}")


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _add(f"slice_{number}.")


def upgrade() -> None:
    if slices := _slices():
        _views(slices)
    else:
        _add()


def downgrade() -> None:
    """Refused where points have a day: their hashes cover it."""
    if op.get_bind().scalar(sa.text("select exists (select from transfer where vests_on is not null)")):
        raise RuntimeError("transfers name the day on which their points vest; they cannot be kept without it")
    if slices := _slices():
        for table in COLUMNS:
            op.execute(f"drop view public.{table}")
        for schema in slices:
            _drop(f"{schema}.")
        _views(slices)
        for table in COLUMNS:
            op.execute(f"grant select on public.{table} to abacus_app")
    else:
        _drop()
