"""The rows of packs, in the slice of their members: the schedule of journeys.

Packs are taken in the order of their time, from behind the last one that was taken: while a transaction elsewhere is
open, rows that were deleted stay in the index, and nobody walks over them at each look.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from abacus.engage.journeys.decide.halts import JourneyVersion
from abacus.engage.journeys.decide.packs import LARGEST, TOGETHER, Pack
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, columns, unnested


class Line(NamedTuple):
    """The packs of a journey that wait for a time, or its packs that an event may move first."""

    journey: str
    awaits: bool

    @property
    def together(self) -> int:
        """How many members go on in one transaction."""
        return LARGEST if self.awaits else TOGETHER


class Stay(NamedTuple):
    """The packs of a line whose members are on a version."""

    journey: str
    awaits: bool
    version: int


class Mark(NamedTuple):
    """A place in a line."""

    due: datetime
    id: int


BEGIN: Final = Mark(datetime(1, 1, 1, tzinfo=UTC), 0)


class Inside(NamedTuple):
    """A pack, and how many of its members still wait for what it is for."""

    due: datetime
    id: int
    node: int
    arm: str | None
    inside: int


class _Look(NamedTuple):
    """A part of a line: behind the mark, up to a time."""

    journey: str
    awaits: bool
    due: datetime
    id: int
    upto: datetime


_DUE: Final = Statement(f"""
select u.journey, u.awaits from {unnested(_Look)}
where exists(
    select from pack p where p.journey = u.journey and p.awaits = u.awaits
    and (p.due, p.id) > (u.due, u.id) and p.due <= u.upto
)
""")
_TAKE: Final = Statement(f"""
select {columns(Pack)} from pack
where journey = :journey and awaits = :awaits and (due, id) > (:due, :id) and due <= :upto
order by due, id limit :most for update skip locked
""")
_OF_VERSION: Final = "journey = :journey and awaits = :awaits and version = :version and (due, id) > (:due, :id)"
_TAKE_VERSION: Final = Statement(f"""
select {columns(Pack)} from pack where {_OF_VERSION} order by due, id limit :most for update
""")
# As a move finds them: the seats of members who still wait for what their pack `p` is for.
INSIDE: Final = """(
    select count(*) from unnest(p.members, p.visits) as m (member, visit)
    join seat s on s.journey = p.journey and s.member = m.member and s.visit = m.visit
    where s.left_at is null and s.version = p.version
        and s.node is not distinct from case when p.awaits then p.node end
        and s.turn is not distinct from case when p.awaits then p.turn end
)"""
_INSIDE: Final = Statement(f"""
select due, id, node, arm, {INSIDE} from pack p where {_OF_VERSION} order by due, id limit :most
""")
_ARE_LEFT: Final = Statement("""
select exists(select from pack where journey = :journey and version = :version)
    or exists(select from pack_aside where journey = :journey and version = :version)
""")
_LEFT: Final = Statement(f"""
select u.journey, u.awaits, u.version from {unnested(Stay, version="integer")}
where exists(select from pack p where p.journey = u.journey and p.awaits = u.awaits and p.version = u.version)
""")
_TAKE_OF: Final = Statement(f"""
select {columns(Pack)} from pack where journey = :journey and version = :version and awaits = :awaits
limit :most for update skip locked
""")
_DELETE: Final = Statement(f"""
delete from pack p using {unnested(Mark)}
where p.journey = :journey and p.awaits = :awaits and p.due = u.due and p.id = u.id
""")


async def lines_due(
    connection: Connection, behind: Mapping[Line, Mark], upto: Mapping[bool, datetime | None]
) -> list[Line]:
    """The lines with a pack behind their mark that is due. `upto` says up to when waits may end: for those that await
    an event, and for others.
    """
    looks = [_Look(*line, *mark, upto=at) for line, mark in behind.items() if (at := upto[line.awaits]) is not None]
    if not looks:
        return []
    return [Line(*row) for row in await connection.fetch(*_DUE(**arrays(_Look, looks)))]


async def take(connection: Connection, line: Line, behind: Mark, upto: datetime, most: int) -> list[Pack]:
    """Packs that are due and that nobody else has taken; they are locked until the transaction ends."""
    rows = await connection.fetch(*_TAKE(**_Look(*line, *behind, upto=upto)._asdict(), most=most))
    return [Pack(*row) for row in rows]


async def take_version(connection: Connection, line: Line, behind: Mark, version: int, most: int) -> list[Pack]:
    """Packs of a version, due or not. A process that runs one of them now is waited for."""
    rows = await connection.fetch(*_TAKE_VERSION(**line._asdict(), **behind._asdict(), version=version, most=most))
    return [Pack(*row) for row in rows]


async def inside_packs(connection: Connection, line: Line, version: int, behind: Mark, most: int) -> list[Inside]:
    """The packs of a version, due or not."""
    rows = await connection.fetch(*_INSIDE(**line._asdict(), **behind._asdict(), version=version, most=most))
    return [Inside(*row) for row in rows]


async def are_left(connection: Connection, journey: str, version: int) -> bool:
    """Whether any pack is of the version, also among those set aside."""
    return bool(await connection.fetchval(*_ARE_LEFT(journey=journey, version=version)))


async def versions_left(connection: Connection, versions: Iterable[JourneyVersion]) -> list[Stay]:
    """Which of these versions somebody is on, by what the packs wait for."""
    stays = [Stay(journey, awaits, version) for journey, version in versions for awaits in (False, True)]
    if not stays:
        return []
    return [Stay(*row) for row in await connection.fetch(*_LEFT(**arrays(Stay, stays)))]


async def take_of(connection: Connection, stay: Stay, most: int) -> list[Pack]:
    """Packs of a version, due or not, that nobody else has taken; they are locked until the transaction ends."""
    rows = await connection.fetch(*_TAKE_OF(**stay._asdict(), most=most))
    return [Pack(*row) for row in rows]


async def delete(connection: Connection, packs: Sequence[Pack]) -> None:
    """Packs of one line that were run."""
    marks = [Mark(each.due, each.id) for each in packs]
    await connection.execute(
        *_DELETE(journey=packs[0].journey, awaits=packs[0].awaits, **arrays(Mark, marks)),
    )


async def put(connection: Connection, packs: Iterable[Pack]) -> None:
    """New packs."""
    if rows := list(packs):
        await connection.copy_records_to_table("pack", records=rows, columns=Pack._fields)
