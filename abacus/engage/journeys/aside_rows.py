"""Members who cannot be moved, with the fault: packs that were set aside, in the slice of their members."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from abacus.engage.journeys.decide.packs import Pack
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool, snapshot
from abacus.platform.sql import Statement, columns

_LONGEST_FAULT: Final = 1000  # characters
_COLUMNS: Final = (*Pack._fields, "fault", "set_aside_at")


class Aside(NamedTuple):
    """Members who wait at a node since then, because of a fault."""

    journey: str
    version: int
    node: int
    fault: str
    since: datetime
    members: int


_TAKE: Final = Statement("""
select from pack where journey = :journey and awaits = :awaits and due = :due and id = :id for update skip locked
""")
_PUT_BACK: Final = Statement(f"""
with back as (delete from pack_aside where journey = :journey returning {columns(Pack)})
insert into pack ({columns(Pack)}) select {columns(Pack)} from back returning cardinality(members)
""")
_ASIDE: Final = Statement("""
select journey, version, node, fault, min(set_aside_at), sum(cardinality(members))::bigint from pack_aside
where :journey::text is null or journey = :journey group by journey, version, node, fault
""")


async def take_one(connection: Connection, pack: Pack) -> bool:
    """Whether the pack is there and nobody else has taken it; it is locked until the transaction ends."""
    taken = _TAKE(journey=pack.journey, awaits=pack.awaits, due=pack.due, id=pack.id)
    return bool(await connection.fetch(*taken))


async def set_aside(connection: Connection, packs: Iterable[tuple[Pack, str]], now: datetime) -> None:
    """Packs, each with its fault."""
    rows = [(*pack, fault.replace("\0", "")[:_LONGEST_FAULT], now) for pack, fault in packs]
    if rows:
        await connection.copy_records_to_table("pack_aside", records=rows, columns=_COLUMNS)


async def put_back(pool: Pool, journey: str) -> int:
    """All of a journey go on, from packs that were due at once; the number of members. Raises `Unavailable`."""

    async def work(slice_: slices.Slice) -> int:
        async with slice_.at() as connection, slices.in_place(connection):
            return sum(row[0] for row in await connection.fetch(*_PUT_BACK(journey=journey)))

    return sum((await slices.everywhere(pool, work, patience_s=None)).whole())


async def aside(pool: Pool, journey: str | None = None) -> list[Aside]:
    """Of one journey, or of all. Raises `Unavailable`."""
    async with snapshot(pool) as connection:
        rows = await slices.rows_on(connection, _ASIDE(journey=journey))
    found: dict[tuple[object, ...], Aside] = {}
    for each in (Aside(*row) for row in rows):
        before = found.get(each[:4])
        found[each[:4]] = (
            each
            if before is None
            else each._replace(since=min(each.since, before.since), members=each.members + before.members)
        )
    return [found[key] for key in sorted(found, key=str)]
