"""In which regions a member is, for people who ask why something was told, or was not. Coordinates are kept nowhere."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.signals.places.region_store import RegionStore
from abacus.signals.places.visit_rows import visits_of


class Whereabouts(NamedTuple):
    """A region in force in which a member is, or which it has left; and when a position said so last."""

    region: str
    country: str
    inside: bool
    since: datetime
    seen_at: datetime


async def whereabouts(pool: Pool, member_id: str) -> Sequence[Whereabouts]:
    """The regions that the member is in come first, then what it came to or left last. Raises `Unavailable`."""
    async with slices.at(pool, member_id) as connection:
        visits = await visits_of(connection, [member_id])
    countries = {id_: country for country, ids in (await RegionStore(pool).ids()).items() for id_ in ids}
    found = [
        Whereabouts(each.region, countries[each.region], each.inside, each.since, each.seen_at)
        for each in visits
        if each.region in countries
    ]
    return sorted(found, key=lambda each: (each.inside, each.since), reverse=True)
