"""The journeys that a member is in or was in, read from its seats."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement


class MemberVisit(NamedTuple):
    """A visit of a member. A member who waits for an event waits at the `node`, `since` then; where a member waits for
    a time alone, the seat does not say it.
    """

    journey: str
    version: int
    visit: int
    country: str
    entered_at: datetime
    node: str | None
    since: datetime
    left_at: datetime | None
    why: str | None


_OWN: Final = [each for each in MemberVisit._fields if each != "node"]
_VISITS: Final = Statement(f"""
select {", ".join(_OWN)}, node from seat
where member_id = :member_id and (:countries::text[] is null or country = any(:countries))
order by left_at is not null, entered_at desc, journey, visit limit :most
""")
_NAMES: Final = Statement("""
select journey, number, node from journey_node where journey = any(:journeys::text[])
""")


async def visits_of(pool: Pool, member_id: str, countries: Sequence[str] | None, most: int) -> Sequence[MemberVisit]:
    """Visits that go on first, then the newest; of these countries, or of all. Raises `Unavailable`."""
    given = {"member_id": member_id, "countries": None if countries is None else list(countries), "most": most}
    async with slices.at(pool, member_id) as connection:
        rows = await connection.fetch(*_VISITS(**given))
        journeys = sorted({row["journey"] for row in rows if row["node"] is not None})
        named = await connection.fetch(*_NAMES(journeys=journeys)) if journeys else []
    names = {(journey, number): node for journey, number, node in named}
    return [
        MemberVisit(**{each: row[each] for each in _OWN}, node=names.get((row["journey"], row["node"]))) for row in rows
    ]
