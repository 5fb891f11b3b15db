"""What came of offers, added up by the day of the reservation, by which limits count, and by the day on which it
happened, by which reports do. Each process adds to rows of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from operator import add
from typing import Final, NamedTuple

from abacus.engage.limits.decide.pots import Pot
from abacus.engage.limits.types import Amounts
from abacus.engage.offers.decide.outcomes import Happened, Outcome
from abacus.engage.offers.decide.taken import CameOf
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, columns, unnested


class _Sum(NamedTuple):
    """A row of `offer_sum`."""

    offer: str
    version: int
    day: date
    outcome: str
    happened_on: date
    slot: int
    times: int
    points: int
    saves: int
    cost: int


_ADD: Final = Statement(f"""
insert into offer_sum as s ({columns(_Sum)}) select u.* from {unnested(_Sum)}
order by u.offer, u.version, u.day, u.outcome, u.happened_on
on conflict (offer, version, day, outcome, happened_on, slot) do update set times = s.times + excluded.times,
    points = s.points + excluded.points, saves = s.saves + excluded.saves, cost = s.cost + excluded.cost
""")
_ADDS: Final = f"s.outcome in ('{Outcome.RESERVED}', '{Outcome.CHANGED}')"
_TAKES: Final = f"s.outcome in ('{Outcome.RELEASED}', '{Outcome.EXPIRED}', '{Outcome.ROLLED_BACK}')"
_SIGN: Final = f"(case when {_ADDS} then 1 when {_TAKES} then -1 else 0 end)"
_USED: Final = Statement(f"""
select {columns(Pot, "u")}, sum({_SIGN} * s.times)::bigint, sum({_SIGN} * s.points)::bigint,
    sum({_SIGN} * s.cost)::bigint
from {unnested(Pot)} join offer_sum s on s.offer = u.owner and u.period in ('', s.day::text)
group by {columns(Pot, "u")}
""")


_CAME_OF: Final = Statement("""
select day = :today as is_today, outcome, sum(times)::bigint, sum(points)::bigint, sum(saves)::bigint,
    sum(cost)::bigint
from offer_sum where offer = :offer group by 1, 2
""")


async def came_of(connection: Connection, offer: str, today: date) -> tuple[list[CameOf], list[CameOf]]:
    """What came of an offer over all time, and of what was reserved today."""
    ever: dict[str, CameOf] = {}
    of_day: list[CameOf] = []
    for is_today, outcome, *sums in await slices.sums(connection, _CAME_OF(offer=offer, today=today), facts=2):
        found = CameOf(outcome, *sums)
        before = ever.get(outcome)
        ever[outcome] = found if before is None else CameOf(outcome, *map(add, before[1:], found[1:]))
        if is_today:
            of_day.append(found)
    return [*ever.values()], of_day


async def add_sums(connection: Connection, happened: Iterable[Happened], slot: int) -> None:
    sums: dict[tuple[str, int, date, Outcome, date], list[int]] = {}
    for each in happened:
        added = sums.setdefault(each[:5], [0, 0, 0, 0])
        for place, more in enumerate(each[5:]):
            added[place] += more
    if sums:
        rows = [_Sum(*place, slot, *added) for place, added in sums.items()]
        await connection.execute(*_ADD(**arrays(_Sum, rows)))


async def taken_before(connection: Connection, pots: Sequence[Pot]) -> Mapping[Pot, Amounts]:
    """What was taken of offers in the slice of the connection, over the time of each of their pots."""
    return {Pot(*row[:3]): Amounts(*row[3:]) for row in map(tuple, await connection.fetch(*_USED(**arrays(Pot, pots))))}
