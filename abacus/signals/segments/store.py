"""Segments in Postgres: versions of a segment count from 1, none is ever changed, and the latest is in force."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from abacus.core.errors import Refused, absent
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, columns, parameters
from abacus.signals.segments.decide.change import check_name, members_after, split_label
from abacus.signals.segments.numbers import erased_numbers
from abacus.signals.segments.types import NOBODY, Changed, Held, How, Members, Outlook, Segment

KEPT: Final = 10  # versions of a segment
NONE_HELD: Final[Mapping[str, Held]] = MappingProxyType({})

_LOCK: Final = Statement("select pg_advisory_xact_lock(hashtext('segment_version'), hashtext(:name))")
_LATEST: Final = Statement(f"""
select distinct on (name) {columns(Segment)} from segment_version
where :name::text is null or name = :name order by name, version desc
""")
_HISTORY: Final = Statement(f"""
select {columns(Segment)} from segment_version where name = :name order by version desc
""")
_KEPT: Final = Statement(f"""
select {columns(Segment)} from segment_version where name = :name and version = :version
""")
_MEMBERS: Final = Statement("select members from segment_version where name = :name and version = :version")
_INSERT: Final = Statement(f"""
insert into segment_version ({columns(Segment)}, members) values ({parameters(Segment)}, :members)
""")
_PRUNE: Final = Statement("delete from segment_version where name = :name and version <= :version")
_VERSIONS: Final = Statement("""
select name, max(version) from segment_version where name = any(:names::text[]) group by name
""")
_ERASURES: Final = "select count(*) from member_number_erased"
_ONE_MOMENT: Final[Mapping[str, Any]] = {"isolation": "repeatable_read", "readonly": True}


class _Wanted(NamedTuple):
    """A change: `make` gets the members before it, and the numbers that mean nobody."""

    name: str
    how: How
    country: str | None
    make: Callable[[Members, Members], Members]


class Author(NamedTuple):
    """Who makes a version, when, and what is written with it."""

    by: str
    now: datetime
    also: Also = nothing_else


class InUse(NamedTuple):
    """The latest versions of some segments, and how many members were erased before, as they were at one moment."""

    held: list[Held]
    erasures: int


class SegmentStore:
    """Reads segments and makes new versions of them. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def change(self, name: str, how: How, given: Members, author: Author, *, country: str | None) -> Changed:
        """Make the next version of a segment, unless it would have the same members. One change of a segment waits
        for another.

        The country is that of the segment, or of the segment to be. Raises `Refused` when the segment has another, and
        when there is no such segment, which only loading makes.
        """
        check_name(name)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            wanted = _Wanted(name, how, country, lambda before, erased: members_after(how, before, given, erased))
            return await _change(connection, wanted, author)

    async def combine(
        self, left: str, how: How, right: str, author: Author, *, into: str, country: str | None
    ) -> Changed:
        """Make the next version of `into` of the members of two others, or of its own and another's. Raises
        `Refused` as `change` does; `into` may be a new segment unless it is `left` or `right`.
        """
        check_name(into)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK(name=into))
            return await _change(
                connection, await _combination(connection, left, how, right, into=into, country=country), author
            )

    async def outlook(self, name: str, how: How, given: Members, *, country: str | None) -> Outlook:
        """What `change` would make of the segment. Raises `Refused` as it does."""
        check_name(name)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction(**_ONE_MOMENT):
            wanted = _Wanted(name, how, country, lambda before, erased: members_after(how, before, given, erased))
            return await _outlook(connection, wanted, given)

    async def outlook_of_two(self, left: str, how: How, right: str, *, into: str, country: str | None) -> Outlook:
        """What `combine` would make of `into`. Raises `Refused` as it does."""
        check_name(into)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction(**_ONE_MOMENT):
            return await _outlook(
                connection, await _combination(connection, left, how, right, into=into, country=country), NOBODY
            )

    async def latest(self, name: str) -> Segment:
        """The version in force. Raises `Refused` where there is none, or where it was dropped."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await _existing(connection, name)

    async def find(self, name: str) -> Segment | None:
        """The latest version, also of a segment that was dropped."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await _find(connection, name)

    async def all(self) -> list[Segment]:
        """The versions in force, by name."""
        async with passing_failures():
            rows = await self._pool.fetch(*_LATEST(name=None))
        return [segment for segment in map(Segment._make, rows) if not segment.dropped]

    async def history(self, name: str) -> list[Segment]:
        """The versions that are kept, the latest first."""
        async with passing_failures():
            return [Segment(*row) for row in await self._pool.fetch(*_HISTORY(name=name))]

    async def members(self, label: str) -> tuple[Segment, Members]:
        """The members of the version in force, or of the version `NAME@N`. Raises `Refused` where there is
        none, or where it is kept no more.
        """
        name, version = split_label(label)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction(**_ONE_MOMENT):
            segment = await _existing(connection, name) if version is None else await _kept(connection, name, version)
            return segment, await _members_of(connection, segment)

    async def in_use(self, names: Collection[str], held: Mapping[str, Held] = NONE_HELD) -> InUse:
        """The latest versions of these segments, at one moment. Versions that are held already are not read again."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction(**_ONE_MOMENT):
            erasures = await connection.fetchval(_ERASURES)
            versions = {row[0]: row[1] for row in await connection.fetch(*_VERSIONS(names=list(names)))}
            return InUse([await _hold(connection, name, versions.get(name, 0), held) for name in names], erasures)


async def _change(connection: Connection, wanted: _Wanted, author: Author) -> Changed:
    await connection.execute(*_LOCK(name=wanted.name))
    latest, before, after = await _made(connection, wanted)
    if latest is not None and after == before and latest.dropped == (wanted.how is How.DROP):
        return Changed(latest, 0, 0, made_a_version=False)
    version = latest.version + 1 if latest is not None else 1
    segment = Segment(wanted.name, version, wanted.country, wanted.how, len(after), author.now, author.by)
    await connection.execute(*_INSERT(**segment._asdict(), members=after.serialize()))
    await connection.execute(*_PRUNE(name=wanted.name, version=version - KEPT))
    await author.also(connection)
    return Changed(segment, len(after - before), len(before - after), made_a_version=True)


async def _made(connection: Connection, wanted: _Wanted) -> tuple[Segment | None, Members, Members]:
    """The latest version, its members, and those that the change makes of them. Raises `Refused`."""
    latest = await _find(connection, wanted.name)
    _check(wanted, latest)
    before = await _members_of(connection, latest) if latest is not None else NOBODY
    return latest, before, wanted.make(before, await erased_numbers(connection))


async def _outlook(connection: Connection, wanted: _Wanted, given: Members) -> Outlook:
    latest, before, after = await _made(connection, wanted)
    there = latest if latest is not None and not latest.dropped else None
    idle = given - before if wanted.how is How.REMOVE else given & before
    return Outlook(there, len(after), len(after - before), len(before - after), len(idle))


async def _combination(
    connection: Connection, left: str, how: How, right: str, *, into: str, country: str | None
) -> _Wanted:
    """Raises `Refused` where one of the two is not there."""
    ours, theirs = [await _members_of(connection, await _existing(connection, each)) for each in (left, right)]
    return _Wanted(into, how, country, lambda _, erased: members_after(how, ours, theirs, erased))


def _check(wanted: _Wanted, latest: Segment | None) -> None:
    if latest is None or latest.dropped:
        if wanted.how in {How.ADD, How.REMOVE, How.DROP}:
            raise absent("segment", wanted.name, "`abacus segments list` prints all")
    elif latest.country != wanted.country:
        ours, theirs = (each or "all countries" for each in (latest.country, wanted.country))
        raise Refused(f"{latest.label} is of {ours}, not of {theirs}; drop it first to load it for {theirs}")


async def _find(connection: Connection, name: str) -> Segment | None:
    row = await connection.fetchrow(*_LATEST(name=name))
    return Segment(*row) if row is not None else None


async def _existing(connection: Connection, name: str) -> Segment:
    segment = await _find(connection, name)
    if segment is None or segment.dropped:
        raise absent("segment", name, "`abacus segments list` prints all")
    return segment


async def _kept(connection: Connection, name: str, version: int) -> Segment:
    row = await connection.fetchrow(*_KEPT(name=name, version=version))
    if row is None:
        raise absent("segment", f"{name}@{version}", f"`abacus segments show {name}` prints the versions that are kept")
    return Segment(*row)


async def _members_of(connection: Connection, segment: Segment) -> Members:
    return await _read(connection, segment.name, segment.version)


async def _hold(connection: Connection, name: str, version: int, held: Mapping[str, Held]) -> Held:
    known = held.get(name)
    if known is not None and known.version == version:
        return known
    return Held(name, version, await _read(connection, name, version) if version else NOBODY)


async def _read(connection: Connection, name: str, version: int) -> Members:
    return Members.deserialize(await connection.fetchval(*_MEMBERS(name=name, version=version)))
