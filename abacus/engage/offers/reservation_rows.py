"""Rows of reservations and redemptions: the statements that read, lock and write them, in a slice."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from abacus.engage.limits.decide.pots import Pot
from abacus.engage.limits.types import NOTHING, Amounts
from abacus.engage.offers.decide.grant import TakerPlace, Uses
from abacus.engage.offers.decide.offer import OWNER_KIND
from abacus.engage.offers.decide.reservation import (
    MOST_TOGETHER,
    Redemption,
    Reservation,
    ReservationStatus,
    periods_of,
)
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, columns, row_of, text_arrays, text_columns, unnested

_HELD: Final = ReservationStatus.HELD
_REDEEMED: Final = ReservationStatus.REDEEMED


class _Taker(NamedTuple):
    """A row of `offer_taker`."""

    member_id: str
    offer: str


class _Settled(NamedTuple):
    """What becomes of a reservation."""

    key: str
    saves: int
    points: int
    cost: int
    status: str


class _RolledBack(NamedTuple):
    """How much of a redemption is rolled back."""

    member_id: str
    redemption_id: UUID
    saves_back: int
    points_back: int


class Overdue(NamedTuple):
    """A reservation whose time was over, and that was let go."""

    offer: str
    version: int
    day: date
    pots: int
    saves: int
    points: int
    cost: int

    @property
    def amounts(self) -> Amounts:
        return Amounts(1, self.points, self.cost)


_READ: Final = columns(Reservation).replace("items", "items::text as items")
_READ_REDEEMED: Final = columns(Redemption).replace("items", "items::text as items")
_AS_JSON: Final = columns(Reservation, "u").replace("u.items", "u.items::json")

_BY_KEYS: Final = Statement(f"select {_READ} from offer_reservation where key = any(:keys::text[])")
_BY_ID: Final = Statement(f"select {_READ} from offer_reservation where reservation_id = :id")
_BY_IDS: Final = Statement(f"select {_READ} from offer_reservation where reservation_id = any(:ids::uuid[])")
_LOCK: Final = Statement(f"""
select {_READ} from offer_reservation where reservation_id = any(:ids::uuid[]) order by key for update
""")
_INSERT: Final = Statement(f"""
insert into offer_reservation ({columns(Reservation)})
select {_AS_JSON} from unnest({text_arrays(Reservation)}) as u ({columns(Reservation)}) order by u.key
on conflict do nothing returning key
""")
_SETTLE: Final = Statement(f"""
update offer_reservation r set saves = u.saves, points = u.points, cost = u.cost, status = u.status, ended_at = :now
from {unnested(_Settled)} where r.key = u.key
""")
_LOCK_BY_KEY: Final = Statement(f"select {_READ} from offer_reservation where key = :key for update")
_ROLL_BACK: Final = Statement("""
update offer_redemption set saves_back = :saves_back, points_back = :points_back, rolled_back_at = :now,
    rollbacks = (rollbacks::jsonb || jsonb_build_array(:rollback_key::text))::json
where member_id = :member_id and redemption_id = :redemption_id
""")
_HAS_ROLLED_BACK: Final = Statement("""
select rollbacks::jsonb ? :rollback_key::text from offer_redemption
where member_id = :member_id and redemption_id = :redemption_id
""")
_REDEEMED_BY_ID: Final = Statement(f"""
select {_READ_REDEEMED} from offer_redemption where redemption_id = any(:ids::uuid[])
""")
_INSERT_REDEEMED: Final = Statement(f"""
insert into offer_redemption ({columns(Redemption)})
select {columns(Redemption, "u").replace("u.items", "u.items::json")}
from unnest({text_arrays(Redemption)}) as u ({columns(Redemption)})
""")
_OPEN_TAKERS: Final = Statement(f"""
insert into offer_taker ({columns(_Taker)}) select u.* from {unnested(_Taker)} order by u.member_id, u.offer
on conflict do nothing
""")
_LOCK_TAKERS: Final = Statement(f"""
select from {unnested(_Taker)} join offer_taker t on t.member_id = u.member_id and t.offer = u.offer
order by u.member_id, u.offer for update of t
""")

# A hold whose time is over takes nothing of a member's limits, whether somebody has let it go or not.
_TAKES: Final = f"(r.status = '{_REDEEMED}' or r.status = '{_HELD}' and r.until > :now)"
# A plan that is made while the table is empty may read all reservations of the offer, and is kept: the index by offer
# is of no use to `r.offer || ''`.
_USES: Final = Statement(f"""
select {columns(TakerPlace, "u")}, count(*), sum(r.points)::bigint, sum(r.cost)::bigint,
    count(*) filter (where r.day = u.day), coalesce(sum(r.points) filter (where r.day = u.day), 0)::bigint,
    coalesce(sum(r.cost) filter (where r.day = u.day), 0)::bigint
from {unnested(TakerPlace)} join offer_reservation r on r.member_id = u.member_id and r.offer || '' = u.offer
where {_TAKES}
group by {columns(TakerPlace, "u")}
""")
# What the member of a row called `u` has taken of each offer: on each day from `:since` on, and before that.
USED: Final = f"""
select array_agg(d.offer) as offers, array_agg(d.day) as days, array_agg(d.runs) as runs, array_agg(d.points) as points,
    array_agg(d.cost) as costs
from (
    select r.offer, case when r.day >= :since then r.day end as day, count(*) as runs, sum(r.points)::bigint as points,
        sum(r.cost)::bigint as cost
    from offer_reservation r where r.member_id = u.member_id and {_TAKES} group by 1, 2
) d
"""
_EXPIRE: Final = Statement(f"""
with overdue as (
    select key from offer_reservation
    where status = '{_HELD}' and until <= :now and (:offers::text[] is null or offer = any(:offers::text[]))
    order by until limit :most for update skip locked
)
update offer_reservation r set status = '{ReservationStatus.EXPIRED}', ended_at = :now from overdue
where r.key = overdue.key returning {columns(Overdue, "r")}
""")


async def of_keys(connection: Connection, keys: Sequence[str]) -> dict[str, Reservation]:
    return {row["key"]: Reservation(*row) for row in await connection.fetch(*_BY_KEYS(keys=keys))}


async def of_request(connection: Connection, key: str) -> list[Reservation]:
    """The reservations of a request with this key, in their order."""
    found = await of_keys(connection, [f"{key}:{number}" for number in range(MOST_TOGETHER)])
    return sorted(found.values(), key=lambda each: int(each.key.rpartition(":")[2]))


async def of_id(connection: Connection, id_: UUID) -> Reservation | None:
    row = await connection.fetchrow(*_BY_ID(id=id_))
    return None if row is None else Reservation(*row)


async def of_ids(connection: Connection, ids: Collection[UUID]) -> list[Reservation]:
    return [Reservation(*row) for row in await connection.fetch(*_BY_IDS(ids=list(ids)))]


async def lock_reservations(connection: Connection, ids: Collection[UUID]) -> dict[UUID, Reservation]:
    """Nobody else changes them until the transaction ends."""
    rows = await connection.fetch(*_LOCK(ids=list(ids)))
    return {row["reservation_id"]: Reservation(*row) for row in rows}


async def enter(connection: Connection, reservations: Sequence[Reservation]) -> bool:
    """Whether all are new; if one is not, not all are there."""
    entered = await connection.fetch(*_INSERT(**text_columns(Reservation, reservations)))
    return len(entered) == len(reservations)


async def settle(connection: Connection, reservations: Sequence[Reservation], now: datetime) -> None:
    """They end now, or change after they have ended."""
    if reservations:
        rows = [row_of(_Settled, each._asdict()) for each in reservations]
        await connection.execute(*_SETTLE(**arrays(_Settled, rows), now=now))


async def lock_reservation(connection: Connection, key: str) -> Reservation:
    """The reservation of a redemption, which locks the redemption too."""
    return Reservation(*await connection.fetchrow(*_LOCK_BY_KEY(key=key)))


async def has_rolled_back(connection: Connection, redemption: Redemption, key: str) -> bool:
    """Whether something of it was rolled back under this key."""
    found: bool = await connection.fetchval(
        *_HAS_ROLLED_BACK(member_id=redemption.member_id, redemption_id=redemption.redemption_id, rollback_key=key)
    )
    return found


async def roll_back(connection: Connection, redemption: Redemption, key: str, now: datetime) -> None:
    await connection.execute(
        *_ROLL_BACK(**row_of(_RolledBack, redemption._asdict())._asdict(), rollback_key=key, now=now)
    )


async def redemptions_of(connection: Connection, ids: Collection[UUID]) -> dict[UUID, Redemption]:
    rows = await connection.fetch(*_REDEEMED_BY_ID(ids=list(ids)))
    return {row["redemption_id"]: Redemption(*row) for row in rows}


async def enter_redemptions(connection: Connection, redemptions: Sequence[Redemption]) -> None:
    if redemptions:
        await connection.execute(*_INSERT_REDEEMED(**text_columns(Redemption, redemptions)))


async def lock_uses(connection: Connection, places: Collection[TakerPlace], now: datetime) -> Mapping[TakerPlace, Uses]:
    """What members have taken of offers; nobody else takes of them for these members until the transaction ends."""
    if not places:
        return {}
    takers = arrays(_Taker, sorted({_Taker(each.member_id, each.offer) for each in places}))
    await connection.execute(*_OPEN_TAKERS(**takers))
    await connection.fetch(*_LOCK_TAKERS(**takers))
    rows = await connection.fetch(*_USES(**arrays(TakerPlace, sorted(places)), now=now))
    return {TakerPlace(*row[:3]): Uses(Amounts(*row[3:6]), Amounts(*row[6:9])) for row in map(tuple, rows)}


async def expire(connection: Connection, now: datetime, offers: Sequence[str] | None, most: int) -> list[Overdue]:
    """Lets go of reservations of these offers, or of all, whose time is over and that nobody else is at."""
    rows: Iterable[Any] = await connection.fetch(*_EXPIRE(now=now, offers=offers, most=most))
    return [Overdue(*row) for row in rows]


def given_back(back: Iterable[tuple[Reservation | Overdue, Amounts]]) -> dict[Pot, Amounts]:
    """What goes back to the pots that each took from."""
    given: dict[Pot, Amounts] = {}
    for row, amounts in back:
        for period in periods_of(row.pots, row.day):
            pot = Pot(OWNER_KIND, row.offer, period)
            given[pot] = given.get(pot, NOTHING).plus(amounts)
    return {pot: amounts for pot, amounts in given.items() if amounts != NOTHING}
