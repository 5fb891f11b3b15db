"""A journey for tests of what runs journeys: what happens at its nodes is a function of the tests' own.

1 entry ─► 2 wait a day ─► 3 tell ─► 4 wait for an event, two days at most ─► 5 tell (event) or 6 tell (time), end
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from abacus.core.clock import Clock
from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.actions.types import MESSAGES, PlannedAction
from abacus.engage.journeys.decide.packs import Pack
from abacus.engage.journeys.decide.seat import Arrived, Entry, Leaves, Moved, Seat, Waits
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.seat_rows import Visit
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.signals.events.types import Event

NOW: Final = datetime(2026, 1, 10, 12, tzinfo=UTC)
DAY: Final = timedelta(days=1)
ZONE: Final = "Asia/Singapore"
ENTRY: Final = 1
JOURNEY: Final = "welcome"


def entry(number: int, journey: str = JOURNEY, *, key: str = "api:acme:1", version: int = 1) -> Entry:
    return Entry(f"m{number}", number, journey, version, key, "SG")


def pack(members: Sequence[int], due: datetime, *, id_: int = 1, version: int = 1, journey: str = JOURNEY) -> Pack:
    """Members who wait for a day after they came in."""
    visits = [1] * len(members)
    return Pack(
        journey,
        awaits=False,
        version=version,
        node=2,
        turn=0,
        zone=ZONE,
        arm=None,
        due=due,
        id=id_,
        members=members,
        visits=visits,
    )


def any_visit(_: Entry, __: Sequence[Visit]) -> bool:
    """Members come in as often as they like."""
    return True


async def go(journey: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
    return [_moved(journey, each, now) for each in arrived]


def told(journey: str, seat: Seat, node: int, now: datetime, *, turn: int = 0) -> PlannedAction:
    """What is told to a member at a node."""
    return PlannedAction(
        member_id=seat.member_id,
        key=f"journey:{journey}:{seat.visit}:{seat.member_id}:{node}{f'.{turn}' if turn else ''}",
        number=0,
        owner_kind="journey",
        owner=journey,
        version=seat.version,
        step=node,
        variant=None,
        kind=DeedKind.TELL,
        receiver=MESSAGES,
        due_at=now,
        document=b"{}",
        event=None,
    )


def _moved(journey: str, arrived: Arrived, now: datetime) -> Moved:
    if arrived.event is not None and arrived.event.type == "left":
        return Moved(arrived, (), (), Leaves("moved away"))
    if arrived.node == ENTRY:
        return Moved(arrived, (1, 2), (), Waits(2, 0, now + DAY, ZONE))
    if arrived.node == 2:
        return Moved(
            arrived, (3, 4), (told(journey, arrived.seat, 3, now),), Waits(4, 0, now + 2 * DAY, ZONE, awaits=True)
        )
    last = 6 if arrived.event is None else 5
    return Moved(arrived, (last,), (told(journey, arrived.seat, last, now),), Leaves("end"))


def mover(clock: Clock) -> Mover:
    return Mover(go, clock)


async def come_in(pool: Pool, moving: Mover, entries: Sequence[Entry]) -> list[Seat]:
    """The seats of those who come in."""

    async def work(slice_: slices.Slice, part: Sequence[Entry]) -> list[Seat]:
        return await moving.enter(slice_, part, any_visit, ENTRY)

    done = (await slices.split(pool, entries, work, patience_s=None)).whole()
    return [seat for seats in done for seat in seats]


def event(member_id: str, type_: str = "order") -> Event:
    return Event("shop", type_, f"e-{member_id}", member_id, "SG", NOW, {})


def is_waited_for(seat: Seat, happened: Event) -> bool:
    return happened.type == "left" or seat.node == 4


async def happen(pool: Pool, moving: Mover, events: Sequence[Event], journey: str = JOURNEY) -> int:
    """How many members went on by the events."""

    async def work(slice_: slices.Slice, part: Sequence[Event]) -> int:
        by_member = {each.member_id or "": each for each in part}
        return await moving.hear(slice_, journey, by_member, is_waited_for)

    split = await slices.split(pool, events, work, member_of=lambda each: each.member_id or "", patience_s=None)
    return sum(split.whole())


async def effects(pool: Pool) -> dict[str, int]:
    """How many effects there are, by their nodes."""
    rows = await pool.fetch("select split_part(key, ':', 5) as node, count(*) from action group by 1 order by 1")
    return {row[0]: row[1] for row in rows}


async def waiting(pool: Pool) -> int:
    """Members in packs."""
    return int(await pool.fetchval("select coalesce(sum(cardinality(members)), 0) from pack"))
