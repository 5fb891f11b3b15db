"""Editions of regions in Postgres, with their shapes and the index of each."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import orjson

from abacus.core.errors import Refused, absent
from abacus.core.fields import DocumentFaults, Fault
from abacus.platform.postgres import Also, Connection, Pool, passing_failures
from abacus.platform.sql import Statement, columns
from abacus.signals.places.decide.edition import Drawn, Edition, Entered
from abacus.signals.places.decide.index_bytes import FORMAT
from abacus.signals.places.decide.region import Region, RegionName
from abacus.signals.places.region_ids import IN_FORCE, REGIONS, Ids, ids_by_country, ids_of

KEPT: Final = 10  # editions of a country
_MOST_TOLD: Final = 100
_SHAPES_AT_ONCE: Final = 10_000
_PIECE: Final = 1 << 20  # bytes of an index

_LOCK: Final = "select pg_advisory_xact_lock(hashtext('region_edition'))"
_OF: Final = f"select {columns(Edition)} from region_edition"
_EDITIONS: Final = Statement(f"{_OF} where :country::text is null or country = :country order by country, number desc")
_NUMBER: Final = Statement("select coalesce(max(number), 0) + 1 from region_edition where country = :country")
_INSERT: Final = Statement("""
insert into region_edition (country, number, regions, size, loaded_at, loaded_by, in_force_at)
values (:country, :number, :regions, :size, :now, :by, :in_force_at)
""")
_INDEX: Final = Statement("""
insert into region_index (country, number, format, index) values (:country, :number, :format, :index)
on conflict do nothing
""")
_DROP_OLDER: Final = Statement("""
delete from region_index where country = :country and number = :number and format < :format
""")
_STORED: Final = Statement("select digest from region_shape where digest = any(:digests::bytea[])")
_STORE: Final = Statement("""
insert into region_shape (digest, shape) select * from unnest(:digests::bytea[], :shapes::bytea[])
on conflict do nothing
""")
_SHAPES: Final = Statement("select digest, shape from region_shape where digest = any(:digests::bytea[])")
_READ_INDEX: Final = Statement("""
select substring(index from :at for :some) from region_index
where country = :country and number = :number and format = :format
""")
_ENTER: Final = Statement(f"""
update region_edition set in_force_at = :now, approved_by = :approved_by
where country = :country and number = :number and in_force_at is null returning {columns(Edition)}
""")
_DROP_INDEXES: Final = Statement("delete from region_index where country = :country and number < :number")
_DROP_EDITIONS: Final = Statement("""
delete from region_edition where country = :country and number <= :number returning regions
""")
_ALL_REGIONS: Final = "select regions from region_edition"
_DROP_SHAPES: Final = Statement("delete from region_shape where digest = any(:digests::bytea[])")


class Prepared(NamedTuple):
    """An edition before it has a number: its regions, their shapes by digest, and its index as it is written."""

    country: str
    entries: Sequence[Entered]
    shapes: Mapping[bytes, bytes]
    written: bytes


class Loading(NamedTuple):
    """Who loads an edition, and when. One that `waits` is not in force before another person agrees. `compared_with`:
    the number of the edition that was in force when it was compared, 0 if there was none.
    """

    by: str
    now: datetime
    waits: bool
    compared_with: int | None = None


class Waiting(NamedTuple):
    """An edition that waits for another person. `compared_with` is that of its loading."""

    country: str
    number: int
    compared_with: int


class RegionStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def editions(self, country: str | None = None) -> list[Edition]:
        """Of all countries or of one, the newest of each first."""
        async with passing_failures():
            return [Edition(*row) for row in await self._pool.fetch(*_EDITIONS(country=country))]

    async def in_force(self) -> dict[str, int]:
        """The number of the edition in force of each country."""
        async with passing_failures():
            return {country: number for country, number, _ in await self._pool.fetch(IN_FORCE)}

    async def ids(self) -> Mapping[str, Ids]:
        """The ids of the regions in force of each country."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await ids_by_country(connection)

    async def entries(self, country: str, number: int) -> list[Entered]:
        """The regions of an edition. Raises `Refused` where it is kept no more."""
        async with passing_failures():
            written = await self._pool.fetchval(*REGIONS(country=country, number=number))
        if written is None:
            raise absent("edition of regions", f"{country}@{number}", "`abacus places regions list` prints all")
        return _entries(country, written)

    async def regions(self, entries: Iterable[Entered]) -> list[Region]:
        """With their shapes."""
        entries = list(entries)
        return list(Drawn(entries, await self._shapes(entries)).regions())

    async def drawn(self, country: str, number: int) -> Drawn:
        """All regions of an edition. Raises `Refused` where it is kept no more."""
        entries = await self.entries(country, number)
        return Drawn(entries, await self._shapes(entries))

    async def _shapes(self, entries: Sequence[Entered]) -> Mapping[bytes, bytes]:
        shapes: dict[bytes, bytes] = {}
        for first in range(0, len(entries), _SHAPES_AT_ONCE):
            digests = [each.shape for each in entries[first : first + _SHAPES_AT_ONCE]]
            async with passing_failures():
                shapes |= map(tuple, await self._pool.fetch(*_SHAPES(digests=digests)))
        return shapes

    async def index(self, country: str, number: int) -> bytes | None:
        """The index of an edition; None where this process cannot read it, or it is kept no more. It is read piece by
        piece, so that answers go on meanwhile.
        """
        which = {"country": country, "number": number, "format": FORMAT}
        pieces: list[bytes] = []
        while not pieces or len(pieces[-1]) == _PIECE:
            async with passing_failures():
                piece = await self._pool.fetchval(*_READ_INDEX(**which, at=len(pieces) * _PIECE + 1, some=_PIECE))
            if piece is None:
                return None
            pieces.append(piece)
        return await asyncio.to_thread(b"".join, pieces)

    async def keep_index(self, country: str, number: int, written: bytes) -> None:
        """In place of an index of an older format; a newer one stays."""
        which = {"country": country, "number": number, "format": FORMAT}
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_DROP_OLDER(**which))
            await connection.execute(*_INDEX(**which, index=written))

    async def load(self, prepared: Prepared, loading: Loading, also: Also) -> int:
        """The number of the new edition. Raises `DocumentFaults` for an id of another country, and `Refused` where
        another edition came in force since the regions were compared.
        """
        country, entries, shapes, written = prepared
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK)
            if loading.compared_with is not None:
                await _check_in_force(connection, country, loading.compared_with)
            await _check_ids(connection, country, [each.name.id for each in entries])
            number = int(await connection.fetchval(*_NUMBER(country=country)))
            await _keep(connection, shapes)
            await connection.execute(
                *_INSERT(
                    country=country,
                    number=number,
                    regions=_written(entries),
                    size=len(entries),
                    now=loading.now,
                    by=loading.by,
                    in_force_at=None if loading.waits else loading.now,
                )
            )
            await connection.execute(*_INDEX(country=country, number=number, format=FORMAT, index=written))
            if not loading.waits:
                await _prune(connection, country, number)
            await also(connection)
        return number

    async def enter(self, waiting: Waiting, approved_by: str | None, now: datetime, also: Also) -> Edition:
        """Puts an edition that waits in force. Raises `Refused` where another one came in force since it was compared
        with the one that was.
        """
        country, number, compared_with = waiting
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK)
            await _check_in_force(connection, country, compared_with)
            regions = await connection.fetchval(*REGIONS(country=country, number=number))
            await _check_ids(connection, country, ids_of(regions or "[]"))
            row = await connection.fetchrow(*_ENTER(country=country, number=number, now=now, approved_by=approved_by))
            if row is None:
                raise absent("edition of regions that waits", f"{country}@{number}")
            await _prune(connection, country, number)
            await also(connection)
        return Edition(*row)


async def _check_in_force(connection: Connection, country: str, at_most: int) -> None:
    """Raises `Refused` where an edition above this number is in force."""
    for of, number, _ in await connection.fetch(IN_FORCE):
        if of == country and number > at_most:
            raise Refused(f"{country}@{number} came in force since; load the regions again")


async def _check_ids(connection: Connection, country: str, ids: Ids) -> None:
    """Whether an id is that of another country's region: ids are those of all countries."""
    elsewhere = {other: known for other, known in (await ids_by_country(connection)).items() if other != country}
    taken = sorted((id_, other) for other, known in elsewhere.items() for id_ in ids if id_ in known)
    if taken:
        raise DocumentFaults(Fault(id_, f"a region of {other} has this id") for id_, other in taken[:_MOST_TOLD])


async def _keep(connection: Connection, shapes: Mapping[bytes, bytes]) -> None:
    stored = {row[0] for row in await connection.fetch(*_STORED(digests=list(shapes)))}
    fresh = [digest for digest in shapes if digest not in stored]
    for first in range(0, len(fresh), _SHAPES_AT_ONCE):
        some = fresh[first : first + _SHAPES_AT_ONCE]
        await connection.execute(*_STORE(digests=some, shapes=[shapes[digest] for digest in some]))


async def _prune(connection: Connection, country: str, number: int) -> None:
    """Behind an edition that comes in force."""
    await connection.execute(*_DROP_INDEXES(country=country, number=number))
    dropped = await connection.fetch(*_DROP_EDITIONS(country=country, number=number - KEPT))
    if gone := _shapes_of(row[0] for row in dropped):
        used = _shapes_of(row[0] for row in await connection.fetch(_ALL_REGIONS))
        await connection.execute(*_DROP_SHAPES(digests=list(gone - used)))


def _written(entries: Sequence[Entered]) -> str:
    rows = [[name.id, name.name, name.kind, name.priority, shape.hex()] for name, shape in entries]
    return orjson.dumps(rows).decode()


def _entries(country: str, written: str) -> list[Entered]:
    return [
        Entered(RegionName(id_, name, kind, priority, country), bytes.fromhex(shape))
        for id_, name, kind, priority, shape in orjson.loads(written)
    ]


def _shapes_of(several: Iterable[str]) -> set[bytes]:
    return {bytes.fromhex(row[-1]) for written in several for row in orjson.loads(written)}
