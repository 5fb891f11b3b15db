"""Who took an offer, or redeemed a reward, is listed by an index, the newest first."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0077"
down_revision = "0076"
branch_labels = None
depends_on = None

# As Postgres names it, where a slice is made like the whole table, too.
INDEX = "offer_reservation_offer_reserved_at_reservation_id_idx"


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice")) or 0
    return [f"slice_{number}" for number in range(count)]


def _make(at: str) -> None:
    op.execute(f"create index {INDEX} on {at}offer_reservation (offer, reserved_at desc, reservation_id desc)")


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _make(f"slice_{number}.")


def upgrade() -> None:
    if not _slices():
        _make("")
    op.execute(
        "create index reward_redemption_reward_idx on reward_redemption (reward, asked_at desc, redemption_id desc)"
    )


def downgrade() -> None:
    op.execute("drop index reward_redemption_reward_idx")
    for prefix in [f"{schema}." for schema in _slices()] or [""]:
        op.execute(f"drop index {prefix}{INDEX}")
