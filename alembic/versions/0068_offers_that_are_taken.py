"""Offers are taken: reservations and redemptions lie with their member, and what came of them is added up."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0068"
down_revision = "0067"
branch_labels = None
depends_on = None

# `key` is the caller's, and `reservation_id` follows from it. A reservation has what it takes of the limits now:
# nothing where it ended, less after a part was rolled back. `pots` says from which pots that came: 1 of all time, 2 of
# its day. Money is in millionths.
RESERVATION = """
create table {at}offer_reservation (
    key text collate "C" not null,
    member_id text collate "C" not null,
    reservation_id uuid not null,
    offer text collate "C" not null,
    version integer not null,
    country text collate "C" not null,
    caller text collate "C" not null,
    fingerprint text not null,
    items json not null,
    currency text not null,
    saves bigint not null,
    points bigint not null,
    cost bigint not null,
    day date not null,
    pots smallint not null,
    reserved_at timestamptz not null,
    until timestamptz not null,
    status text collate "C" not null,
    ended_at timestamptz,
    constraint offer_reservation_pkey primary key (key)
);
create index offer_reservation_reservation_id_idx on {at}offer_reservation (reservation_id);
create index offer_reservation_member_id_offer_idx on {at}offer_reservation (member_id, offer);
create index offer_reservation_until_idx on {at}offer_reservation (until) where status = 'held';
grant select, insert, update (saves, points, cost, status, ended_at) on {at}offer_reservation to abacus_app;
"""

# What was redeemed, with the basket that was paid, and how much of it was rolled back.
REDEMPTION = """
create table {at}offer_redemption (
    member_id text collate "C" not null,
    redemption_id uuid not null,
    reservation_key text collate "C" not null,
    offer text collate "C" not null,
    version integer not null,
    country text collate "C" not null,
    caller text collate "C" not null,
    items json not null,
    currency text not null,
    saves bigint not null,
    points bigint not null,
    redeemed_at timestamptz not null,
    saves_back bigint not null default 0,
    points_back bigint not null default 0,
    rolled_back_at timestamptz,
    rollbacks json not null default '[]',
    constraint offer_redemption_pkey primary key (member_id, redemption_id)
);
create index offer_redemption_redemption_id_idx on {at}offer_redemption (redemption_id);
grant select, insert, update (saves_back, points_back, rolled_back_at, rollbacks)
    on {at}offer_redemption to abacus_app;
"""

# Locked while what a member took of an offer is counted.
TAKER = """
create table {at}offer_taker (
    member_id text collate "C" not null,
    offer text collate "C" not null,
    constraint offer_taker_pkey primary key (member_id, offer)
);
grant select, insert, update (offer) on {at}offer_taker to abacus_app;
"""

# By the day of the reservation in the offer's zone. Each process adds to rows of its own.
SUM = """
create table {at}offer_sum (
    offer text collate "C" not null,
    version integer not null,
    day date not null,
    outcome text collate "C" not null,
    slot integer not null,
    times bigint not null,
    points bigint not null,
    saves bigint not null,
    cost bigint not null,
    constraint offer_sum_pkey primary key (offer, version, day, outcome, slot)
);
grant select, insert, update (times, points, saves, cost) on {at}offer_sum to abacus_app;
"""

TABLES = {
    "offer_reservation": RESERVATION,
    "offer_redemption": REDEMPTION,
    "offer_taker": TAKER,
    "offer_sum": SUM,
}
GUARDED = "offer_reservation"


def _slices() -> int:
    return op.get_bind().scalar(sa.text("select count(*) from slice")) or 0


def _schemas(slices: int) -> Sequence[str]:
    return [f"slice_{number}" for number in range(slices)]


def _make(at: str) -> None:
    for table in TABLES.values():
        for statement in table.format(at=at).split(";\n"):
            if statement.strip():
                op.execute(statement)


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, slices: int) -> None:
    _make(f"slice_{number}.")
    op.execute(
        f"create trigger {GUARDED}_is_of_this_slice before insert or update of member_id on slice_{number}.{GUARDED}"
        f" for each row when (abacus_slice_of(new.member_id, {slices}) <> {number})"
        " execute function abacus_refuse_stranger()"
    )


def upgrade() -> None:
    if not (slices := _slices()):
        _make("")
        return
    for table in TABLES:
        rows = " union all ".join(f"select * from {schema}.{table}" for schema in _schemas(slices))
        op.execute(f"create view public.{table} as {rows}")
        op.execute(f"grant select on public.{table} to abacus_app")


def downgrade() -> None:
    slices = _slices()
    for table in reversed(TABLES):
        if slices:
            op.execute(f"drop view public.{table}")
        for schema in _schemas(slices):
            op.execute(f"drop table {schema}.{table}")
        if not slices:
            op.execute(f"drop table {table}")
