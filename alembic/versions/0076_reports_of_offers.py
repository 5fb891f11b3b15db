"""Reports of offers and rewards: the day on which it happened, how often offers were shown, and when rewards were given
and came back.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0076"
down_revision = "0075"
branch_labels = None
depends_on = None

KEY = "offer, version, day, outcome"
BY_DAY = """
alter table {at}offer_sum add column happened_on date;
update {at}offer_sum set happened_on = day;
alter table {at}offer_sum alter column happened_on set not null, drop constraint offer_sum_pkey;
alter table {at}offer_sum add constraint offer_sum_pkey primary key (offer, version, day, outcome, happened_on, slot);
create index offer_sum_happened_on_idx on {at}offer_sum (happened_on)
"""

# Each figure stands once more for an offer that was in some answers: of each so many answers one is looked at.
SHOWN = """
create table offer_shown (
    offer text collate "C" not null,
    version integer not null,
    day date not null,
    slot integer not null,
    times bigint not null,
    constraint offer_shown_pkey primary key (offer, version, day, slot)
);
create index offer_shown_day_idx on offer_shown (day);
grant select, insert, update (times) on offer_shown to abacus_app
"""

# `given_at` is when the points were paid, `back_at` when they came back.
REWARDS = """
alter table reward_redemption add column given_at timestamptz, add column back_at timestamptz;
update reward_redemption set given_at = asked_at
    where stage in ('given', 'sent', 'fulfilled', 'cancelling', 'cancelled', 'returning', 'returned');
update reward_redemption set back_at = changed_at where stage in ('cancelled', 'returned');
create index reward_redemption_given_at_idx on reward_redemption (given_at) where given_at is not null;
create index reward_redemption_back_at_idx on reward_redemption (back_at) where back_at is not null;
grant update (given_at, back_at) on reward_redemption to abacus_app
"""


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice"))
    return [f"slice_{number}" for number in range(count or 0)]


def _do(statements: str) -> None:
    for each in statements.split(";\n"):
        op.execute(each)


def _view(slices: Sequence[str]) -> None:
    rows = " union all ".join(f"select * from {schema}.offer_sum" for schema in slices)
    op.execute(f"create or replace view public.offer_sum as {rows}")


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _do(BY_DAY.format(at=f"slice_{number}."))


def upgrade() -> None:
    if slices := _slices():
        _view(slices)
    else:
        _do(BY_DAY.format(at=""))
    _do(SHOWN)
    _do(REWARDS)


def downgrade() -> None:
    op.execute("alter table reward_redemption drop column given_at, drop column back_at")
    op.execute("drop table offer_shown")
    slices = _slices()
    if slices:
        op.execute("drop view public.offer_sum")
    for prefix in [f"{schema}." for schema in slices] or [""]:
        _in_days_of_reservations(prefix)
    if slices:
        _view(slices)
        op.execute("grant select on public.offer_sum to abacus_app")


def _in_days_of_reservations(at: str) -> None:
    """What happened on several days is added up in one row."""
    op.execute(f"""
        create temporary table summed on commit drop as
        select {KEY}, slot, sum(times)::bigint as times, sum(points)::bigint as points, sum(saves)::bigint as saves,
            sum(cost)::bigint as cost
        from {at}offer_sum group by {KEY}, slot
    """)
    op.execute(f"delete from {at}offer_sum")
    op.execute(f"alter table {at}offer_sum drop constraint offer_sum_pkey, drop column happened_on")
    op.execute(f"alter table {at}offer_sum add constraint offer_sum_pkey primary key ({KEY}, slot)")
    op.execute(f"insert into {at}offer_sum ({KEY}, slot, times, points, saves, cost) select * from summed")
    op.execute("drop table summed")
