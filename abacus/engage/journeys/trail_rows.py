"""The trail of journeys, in the slice of their members: a row for members who came the same way together."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.engage.journeys.decide.seat import Leaves, Moved, Seat
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, columns

_IDS: Final = 1 << 63


class Passage(NamedTuple):
    """Nodes that a member came through at a time, from the one where the member had waited. `why` is the reason of the
    end, at the last of them, and `not_done` the reason for which deeds at them were not done.
    """

    at: datetime
    version: int
    node: int | None
    turn: int | None
    path: Sequence[int]
    why: str | None
    not_done: str | None


class _Row(NamedTuple):
    """A row of `journey_trail`."""

    journey: str
    at: datetime
    id: int
    version: int
    node: int | None
    turn: int | None
    path: Sequence[int]
    why: str | None
    not_done: str | None
    members: Sequence[int]
    visits: Sequence[int]


_PASSED: Final = Statement(f"""
select {columns(Passage)} from journey_trail t
where journey = :journey and at >= :since and exists(
    select from unnest(t.members, t.visits) as u (member, visit) where u.member = :member and u.visit = :visit
)
order by at, id
""")


async def add(connection: Connection, moved: Iterable[Moved], now: datetime, random: Callable[[], float]) -> None:
    """In the transaction of the moves."""
    together: dict[tuple[str, int, int | None, int | None, tuple[int, ...], str | None, str | None], list[Seat]] = {}
    for arrived, path, _, then, not_done in moved:
        seat, node, turn = arrived.seat, arrived.node, arrived.turn
        way = (seat.journey, seat.version, node, turn, path, then.why if isinstance(then, Leaves) else None, not_done)
        together.setdefault(way, []).append(seat)
    rows = [
        _Row(
            *(journey, now, int(random() * _IDS), version, node, turn, path, why, not_done),
            [each.member for each in seats],
            [each.visit for each in seats],
        )
        for (journey, version, node, turn, path, why, not_done), seats in together.items()
    ]
    if rows:
        await connection.copy_records_to_table("journey_trail", records=rows, columns=_Row._fields)


async def passed(connection: Connection, seat: Seat) -> list[Passage]:
    """How a member came to where the member is."""
    statement = _PASSED(journey=seat.journey, since=seat.entered_at, member=seat.member, visit=seat.visit)
    return [Passage(*row) for row in await connection.fetch(*statement)]
