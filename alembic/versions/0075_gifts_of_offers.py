"""Invitations that a deed or a redemption gave are rows of their member, and a redemption may be delivered as one, or
as points of another program.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0075"
down_revision = "0074"
branch_labels = None
depends_on = None

GIFT = "offer_gift"

# `key` is that of the deed or of the redemption, `offer` the number of the offer.
OF_MEMBERS = """
create table {at}offer_gift (
    member_id text collate "C" not null,
    key text collate "C" not null,
    offer integer not null,
    given_at timestamptz not null,
    constraint offer_gift_pkey primary key (member_id, key)
);
grant select, insert, delete on {at}offer_gift to abacus_app
"""

DELIVERED = """
alter table reward_redemption add column offer text collate "C", add column award_program text collate "C",
    add column award_points bigint
"""


def _slices() -> int:
    return op.get_bind().scalar(sa.text("select count(*) from slice")) or 0


def _schemas(slices: int) -> Sequence[str]:
    return [f"slice_{number}" for number in range(slices)]


def _make(at: str) -> None:
    for statement in OF_MEMBERS.format(at=at).split(";\n"):
        op.execute(statement)


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _make(f"slice_{number}.")


def upgrade() -> None:
    op.execute(DELIVERED)
    if slices := _slices():
        rows = " union all ".join(f"select * from {schema}.{GIFT}" for schema in _schemas(slices))
        op.execute(f"create view public.{GIFT} as {rows}")
        op.execute(f"grant select on public.{GIFT} to abacus_app")
    else:
        _make("")


def downgrade() -> None:
    if slices := _slices():
        op.execute(f"drop view public.{GIFT}")
        for schema in _schemas(slices):
            op.execute(f"drop table {schema}.{GIFT}")
    else:
        op.execute(f"drop table {GIFT}")
    op.execute("alter table reward_redemption drop column offer, drop column award_program, drop column award_points")
