"""Places in Postgres: a row each, with the version of all places by which it came.

One change at a time has the next version and is committed before the next begins, so whoever has read all up to a
version finds what is new above it.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson

from abacus.core.errors import Refused
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, array, column
from abacus.signals.places.decide.place import Attributes, Place
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.sphere import Box

_COLUMNS: Final = "id, name, country, merchant, lon, lat, brand, categories, hours, timezone, attributes"
_WRITTEN: Final = [*_COLUMNS.split(", "), "version", "changed_at"]
_SET: Final = ", ".join(f"{name} = excluded.{name}" for name in _WRITTEN[1:])

_LOCK: Final = "select pg_advisory_xact_lock(hashtext('place'))"
_NEXT: Final = "select coalesce(max(version), 0) + 1 from place"
_THESE: Final = Statement(f"select {_COLUMNS}, removed from place where id = any({array('ids', 'text')})")
_STAGE: Final = "create temporary table changed_place (like place) on commit drop"
_CHANGE: Final = f"""
insert into place ({", ".join(_WRITTEN)}) select {", ".join(_WRITTEN)} from changed_place
on conflict (id) do update set {_SET}, removed = false
"""
_REMOVE: Final = Statement("""
with gone as (
    update place p set removed = true, version = :version, changed_at = :now
    where country = any(:countries::text[]) and not removed
        and not exists (select from unnest(:ids::text[]) u (id) where u.id = p.id)
    returning 1
)
select count(*) from gone
""")
_TAKE_AWAY: Final = Statement("""
update place set removed = true, version = :version, changed_at = :now where id = :id and not removed returning country
""")
_LATEST: Final = "select coalesce(max(version), 0) from place"
_FIND: Final = Statement(f"select {_COLUMNS}, version, changed_at from place where id = :id and not removed")
_ALL: Final = Statement(f"""
select {_COLUMNS} from place where id > :after and not removed order by id limit :most
""")
_SINCE: Final = Statement(f"""
select {_COLUMNS}, version, removed from place
where (version, id) > (:version, :id) and version <= :upto order by version, id limit :most
""")
_BETWEEN: Final = """
lat between :south and :north
    and (lon between :west and :east or lon - 360 between :west and :east or lon + 360 between :west and :east)
"""
_AROUND: Final = Statement(f"""
select {_COLUMNS} from place
where (:country::text is null or country = :country) and not removed and {_BETWEEN}
order by id
""")
# In the order of distances on a plane, which are those on the sphere but for a hundredth.
_NEAR: Final = Statement(f"""
select {_COLUMNS} from place where country = :country and not removed and {_BETWEEN}
order by power(lat - :lat, 2) + power(least(abs(lon - :lon), 360 - abs(lon - :lon)) * cosd(:lat), 2) limit :most
""")
_NAMED: Final = Statement(f"""
select {_COLUMNS} from place
where country = :country and not removed and (id = :text or strpos(lower(name), lower(:text)) > 0)
order by id = :text desc, name, id limit :most
""")
_BOX: Final = Statement(f"""
select id, name, lon, lat from place where country = :country and not removed and {_BETWEEN} order by id limit :most
""")


class Entered(NamedTuple):
    """What a change did, and the version of all places since which it is there."""

    new: int
    changed: int
    version: int


class Spot(NamedTuple):
    """A place, as a map shows it."""

    id: str
    name: str
    at: Point


class StoredPlace(NamedTuple):
    """A place, and since when it is as it is."""

    place: Place
    version: int
    changed_at: datetime


class ChangedPlaces(NamedTuple):
    """What has changed up to a version: places as they are now, and the ids of places that are no more."""

    there: Sequence[Place]
    gone: Sequence[str]


class PlaceStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def enter(self, places: Sequence[Place], now: datetime, *, also: Also = nothing_else) -> Entered:
        """Writes what is new or different of these places, of which no two have one id; `also` where something is.
        Raises `Refused` for the id of a place in another country.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            version = await _begun(connection)
            rows = await connection.fetch(*_THESE(ids=column(each.id for each in places)))
            known = {row["id"]: (_place(row), row["removed"]) for row in rows}
            _check_countries(places, known)
            new = [each for each in places if each.id not in known]
            changed = [each for each in places if each.id in known and known[each.id] != (each, False)]
            if not (new or changed):
                return Entered(0, 0, version - 1)
            await _copy(connection, "place", new, version, now)
            if changed:
                await connection.execute(_STAGE)
                await _copy(connection, "changed_place", changed, version, now)
                await connection.execute(_CHANGE)
            await also(connection)
            again = sum(known[each.id][1] for each in changed)  # that were removed
            return Entered(len(new) + again, len(changed) - again, version)

    async def remove_others(
        self, countries: Collection[str], ids: Collection[str], now: datetime, *, also: Also = nothing_else
    ) -> tuple[int, int]:
        """Removes every place of these countries but those with these ids; how many, and the version since then."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            version = await _begun(connection)
            given = {"countries": list(countries), "ids": list(ids), "version": version, "now": now}
            count = await connection.fetchval(*_REMOVE(**given))
            if count:
                await also(connection)
            return count, version if count else version - 1

    async def remove(self, id_: str, now: datetime, *, also: Also = nothing_else) -> int | None:
        """The version since which there is no such place; None where there was none."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            version = await _begun(connection)
            if await connection.fetchval(*_TAKE_AWAY(id=id_, version=version, now=now)) is None:
                return None
            await also(connection)
            return int(version)

    async def find(self, id_: str) -> StoredPlace | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_FIND(id=id_))
        return None if row is None else StoredPlace(_place(row), row["version"], row["changed_at"])

    async def version(self) -> int:
        """Of the latest change."""
        async with passing_failures():
            return int(await self._pool.fetchval(_LATEST))

    async def all(self, most: int) -> AsyncIterator[Sequence[Place]]:
        """Every place, so many at once, each page as it is when it is read."""
        after = ""
        while True:
            async with passing_failures():
                rows = await self._pool.fetch(*_ALL(after=after, most=most))
            if not rows:
                return
            after = rows[-1]["id"]
            yield list(map(_place, rows))

    async def since(self, version: int, upto: int, most: int) -> AsyncIterator[ChangedPlaces]:
        """What has changed above a version, so many at once. A place that changes again meanwhile is above `upto`."""
        id_ = "\U0010ffff"  # behind every id, so that what the version itself changed is passed over
        while True:
            async with passing_failures():
                rows = await self._pool.fetch(*_SINCE(version=version, id=id_, upto=upto, most=most))
            if not rows:
                return
            version, id_ = rows[-1]["version"], rows[-1]["id"]
            gone = [row["id"] for row in rows if row["removed"]]
            yield ChangedPlaces([_place(row) for row in rows if not row["removed"]], gone)

    async def between(self, box: Box, country: str | None) -> Sequence[Place]:
        """The places of a country, or of all."""
        async with passing_failures():
            rows = await self._pool.fetch(*_AROUND(country=country, **box._asdict()))
        return list(map(_place, rows))

    async def around(self, point: Point, box: Box, country: str, most: int) -> Sequence[Place]:
        """At most so many places of a country in a box, and of more those that are nearest to the point."""
        lon, lat = point
        asked = {"country": country, "lon": lon, "lat": lat, "most": most, **box._asdict()}
        async with passing_failures():
            return [_place(row) for row in await self._pool.fetch(*_NEAR(**asked))]

    async def named(self, country: str, text: str, most: int) -> Sequence[Place]:
        """The place with this id; without one, at most so many whose names have the text in them."""
        async with passing_failures():
            found = [_place(row) for row in await self._pool.fetch(*_NAMED(country=country, text=text, most=most))]
        return found[:1] if found and found[0].id == text else found

    async def within(self, country: str, box: Box, most: int) -> Sequence[Spot]:
        """At most so many places of a country, where they stand."""
        async with passing_failures():
            rows = await self._pool.fetch(*_BOX(country=country, most=most, **box._asdict()))
        return [Spot(id_, name, (lon, lat)) for id_, name, lon, lat in rows]


async def _begun(connection: Connection) -> int:
    """The next version, in a transaction that is the only one to change places until it ends."""
    await connection.execute(_LOCK)
    return int(await connection.fetchval(_NEXT))


def _check_countries(places: Sequence[Place], known: Mapping[str, tuple[Place, bool]]) -> None:
    """Raises `Refused` for the id of a place that is in another country."""
    for each in places:
        there, removed = known.get(each.id, (each, False))
        if there.country != each.country and not removed:
            raise Refused(f"{each.id} is a place of {there.country}; an id is of one place in all countries")


async def _copy(connection: Connection, table: str, places: Sequence[Place], version: int, now: datetime) -> None:
    if places:
        rows = ((*_row(each), version, now, False) for each in places)
        await connection.copy_records_to_table(table, records=rows, columns=[*_WRITTEN, "removed"])


def _row(place: Place) -> tuple[Any, ...]:
    """In the order of the columns."""
    lon, lat = place.point
    return (
        *(place.id, place.name, place.country, place.merchant, lon, lat, place.brand),
        *(place.categories, place.hours, place.timezone, _text(place.attributes)),
    )


def _text(attributes: Attributes) -> str:
    return orjson.dumps(dict(attributes)).decode() if attributes else ""


def _place(row: Any) -> Place:
    attributes = row["attributes"]
    return Place(
        row["id"],
        row["name"],
        (row["lon"], row["lat"]),
        row["country"],
        row["merchant"],
        row["brand"],
        tuple(row["categories"]),
        row["hours"],
        row["timezone"],
        tuple(orjson.loads(attributes).items()) if attributes else (),
    )
