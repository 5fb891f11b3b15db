"""The progress of members in campaigns, in Postgres: as campaigns decide by it, and as a person looks it up."""

from array import array as packed
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from abacus.engage.campaigns.decide.progress import Progress, ProgressPlace
from abacus.engage.limits.types import Amounts
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class _Row(NamedTuple):
    """A row of `campaign_progress`."""

    member_id: str
    campaign: str
    scope: str
    events: int
    runs: int
    points: int
    cost: int
    marks: bytes
    variant: str | None


_ADD: Final = Statement(f"""
insert into campaign_progress ({columns(_Row)}) select u.* from {unnested(_Row)}
order by u.member_id, u.campaign, u.scope
on conflict do nothing returning campaign
""")
_OF: Final = f"""
select {columns(_Row, "p")} from {unnested(ProgressPlace)}
join campaign_progress p on p.member_id = u.member_id and p.campaign = u.campaign and p.scope = u.scope
"""
_LOCK: Final = Statement(f"{_OF} order by u.member_id, u.campaign, u.scope for update of p")
_READ: Final = Statement(_OF)
_WRITE: Final = Statement(f"""
update campaign_progress p
set events = u.events, runs = u.runs, points = u.points, cost = u.cost, marks = u.marks, variant = u.variant
from {unnested(_Row)} where p.member_id = u.member_id and p.campaign = u.campaign and p.scope = u.scope
""")


async def lock_progress(connection: Connection, places: Sequence[ProgressPlace]) -> Mapping[ProgressPlace, Progress]:
    """The progress at these places, as far as there is any; nobody else changes it until the transaction ends."""
    return _read(await connection.fetch(*_LOCK(**arrays(ProgressPlace, places)))) if places else {}


async def read_progress(connection: Connection, places: Sequence[ProgressPlace]) -> Mapping[ProgressPlace, Progress]:
    """The progress at these places as it is at the moment."""
    return _read(await connection.fetch(*_READ(**arrays(ProgressPlace, places)))) if places else {}


async def write_progress(
    connection: Connection, progress: Mapping[ProgressPlace, Progress], locked: Collection[ProgressPlace]
) -> bool:
    """Whether nobody else has begun meanwhile where nothing was locked; if somebody has, not all is written."""
    there: list[_Row] = []
    new: list[_Row] = []
    for place, each in progress.items():
        row = _Row(*place, each.events, *each.used, packed_marks(each.marks), each.variant)
        (there if place in locked else new).append(row)
    if new and len(await connection.fetch(*_ADD(**arrays(_Row, new)))) < len(new):
        return False
    if there:
        await connection.execute(*_WRITE(**arrays(_Row, there)))
    return True


def _read(rows: Sequence[Sequence[object]]) -> Mapping[ProgressPlace, Progress]:
    read = [_Row(*row) for row in rows]  # type: ignore[arg-type]  # the columns have these types
    return {
        ProgressPlace(*row[:3]): Progress(
            row.events, Amounts(row.runs, row.points, row.cost), unpacked_marks(row.marks), row.variant
        )
        for row in read
    }


def packed_marks(marks: Sequence[datetime]) -> bytes:
    return packed("q", [(mark - _EPOCH) // _MICROSECOND for mark in marks]).tobytes()


def unpacked_marks(marks: bytes) -> tuple[datetime, ...]:
    values = packed("q")
    values.frombytes(marks)
    return tuple(_EPOCH + value * _MICROSECOND for value in values)


class MemberProgress(NamedTuple):
    """Over the whole life of the campaign: the events that counted, the runs, and the points that they earned."""

    campaign: str
    country: str
    events: int
    runs: int
    points: int
    variant: str | None


_OF_MEMBER: Final = Statement("""
select campaign, events, runs, points, variant from campaign_progress
where member_id = :member_id and scope = '' order by campaign
""")
_COUNTRIES: Final = Statement("select distinct name, country from campaign where name = any(:names::text[])")


async def progress_of(
    pool: Pool, member_id: str, countries: Sequence[str] | None, limit: int
) -> Sequence[MemberProgress]:
    """In campaigns of these countries, or of all. Raises `Unavailable`."""
    async with passing_failures():
        async with slices.at(pool, member_id) as connection:
            rows = await connection.fetch(*_OF_MEMBER(member_id=member_id))
        country_of = dict(await pool.fetch(*_COUNTRIES(names=[row["campaign"] for row in rows])))
    told = (MemberProgress(country=country_of.get(row["campaign"], ""), **row) for row in rows)
    return [each for each in told if countries is None or each.country in countries][:limit]
