"""Seats are written in place."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0088"
down_revision = "0087"
branch_labels = None
depends_on = None

# Each seat is written once more at least, with the others of its page, when its members leave together. With room for
# that, the row stays on its page and no index is touched, which took most of the time of a herd's end.
IN_PLACE = "alter table {at}seat set (fillfactor = 50)"


def _schemas() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice")) or 0
    return [f"slice_{number}." for number in range(count)]


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    op.execute(IN_PLACE.format(at=f"slice_{number}."))


def upgrade() -> None:
    if not _schemas():
        op.execute(IN_PLACE.format(at=""))


def downgrade() -> None:
    for at in _schemas() or [""]:
        op.execute(f"alter table {at}seat reset (fillfactor)")
