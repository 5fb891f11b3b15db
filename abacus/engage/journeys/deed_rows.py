"""Deeds that wait to be unfolded, in the slice of their members: one row for all for whom the same was decided
together. The keys of what is done follow from it: `journey:NAME:VISIT:MEMBER:NODE`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from abacus.engage.journeys.decide.packs import parts
from abacus.engage.journeys.decide.seat import Went
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, columns, unnested

_IDS: Final = 1 << 63


class DeedRow(NamedTuple):
    """What is done at a node for members by their numbers, each in a visit. It was decided `at` a time."""

    journey: str
    at: datetime
    id: int
    version: int
    node: int
    turn: int
    arm: str | None
    members: Sequence[int]
    visits: Sequence[int]


class Mark(NamedTuple):
    """A place among the deeds of a journey."""

    at: datetime
    id: int


BEGIN: Final = Mark(datetime(1, 1, 1, tzinfo=UTC), 0)


class _Look(NamedTuple):
    journey: str
    at: datetime
    id: int


_THERE: Final = Statement(f"""
select u.journey from {unnested(_Look)}
where exists(select from journey_deed d where d.journey = u.journey and (d.at, d.id) > (u.at, u.id))
""")
_TAKE: Final = Statement(f"""
select {columns(DeedRow)} from journey_deed where journey = :journey and (at, id) > (:at, :id)
order by at, id limit :most for update skip locked
""")
_DELETE: Final = Statement(f"""
delete from journey_deed d using {unnested(Mark)} where d.journey = :journey and d.at = u.at and d.id = u.id
""")


async def put_deeds(connection: Connection, went: Iterable[Went], now: datetime, random: Callable[[], float]) -> None:
    """In the transaction of the moves."""
    rows = [
        DeedRow(
            each.party.journey,
            now,
            int(random() * _IDS),
            each.party.version,
            *done,
            [seat.member for seat in some],
            [seat.visit for seat in some],
        )
        for each in went
        for done in each.done
        for some in parts(each.seats)
    ]
    if rows:
        await connection.copy_records_to_table("journey_deed", records=rows, columns=DeedRow._fields)


async def journeys_with_deeds(connection: Connection, behind: Mapping[str, Mark]) -> list[str]:
    """The journeys that have deeds behind their mark."""
    looks = [_Look(journey, *mark) for journey, mark in behind.items()]
    return [row[0] for row in await connection.fetch(*_THERE(**arrays(_Look, looks)))] if looks else []


async def take_deeds(connection: Connection, journey: str, behind: Mark, most: int) -> list[DeedRow]:
    """Deeds that nobody else has taken; they are locked until the transaction ends."""
    rows = await connection.fetch(*_TAKE(journey=journey, at=behind.at, id=behind.id, most=most))
    return [DeedRow(*row) for row in rows]


async def delete_deeds(connection: Connection, deeds: Collection[DeedRow]) -> None:
    """Deeds of one journey that were unfolded."""
    marks = [Mark(each.at, each.id) for each in deeds]
    journey = next(each.journey for each in deeds)
    await connection.execute(*_DELETE(journey=journey, **arrays(Mark, marks)))
