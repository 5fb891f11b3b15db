"""The journeys that a member is in or was in."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.places import place_of
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement, columns


class MemberVisit(NamedTuple):
    """A visit of a member, and the node at which it waits since a time; none once it left, for `why`."""

    journey: str
    version: int
    visit: int
    country: str
    entered_at: datetime
    node: str | None
    since: datetime | None
    left_at: datetime | None
    why: str | None


_VISITS: Final = Statement(f"""
select {columns(Seat)}, left_at, why from seat
where member_id = :member_id and (:countries::text[] is null or country = any(:countries))
order by left_at is not null, entered_at desc, journey, visit limit :most
""")
_NAMES: Final = Statement("""
select journey, number, node from journey_node where journey = any(:journeys::text[])
""")


async def visits_of(
    pool: Pool, member_id: str, countries: Sequence[str] | None, *, most: int, now: datetime
) -> Sequence[MemberVisit]:
    """Visits that go on first, then the newest; of these countries, or of all. Raises `Unavailable`."""
    given = {"member_id": member_id, "countries": None if countries is None else list(countries), "most": most}
    async with slices.at(pool, member_id) as connection:
        rows = [(Seat(*row[:-2]), *row[-2:]) for row in await connection.fetch(*_VISITS(**given))]
        places = [await place_of(connection, seat, now) if left_at is None else None for seat, left_at, _ in rows]
        journeys = sorted({seat.journey for (seat, *_), place in zip(rows, places, strict=True) if place is not None})
        named = await connection.fetch(*_NAMES(journeys=journeys)) if journeys else []
    names = {(journey, number): node for journey, number, node in named}
    return [
        MemberVisit(
            seat.journey,
            seat.version,
            seat.visit,
            seat.country,
            seat.entered_at,
            None if place is None else names.get((seat.journey, place[0])),
            None if place is None else place[1],
            left_at,
            why,
        )
        for (seat, left_at, why), place in zip(rows, places, strict=True)
    ]
