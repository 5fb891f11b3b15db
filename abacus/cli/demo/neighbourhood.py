"""The demo's places: a map, regions that lie in one another, shops of the kitchen, and what is on offer near a point.

The answer becomes lines that a person reads.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from abacus.cli.demo.catalogue import COUNTRY, KITCHEN, RIVER
from abacus.cli.demo.counter import Counter, asked, partner_at, told
from abacus.cli.terminal.answer import counted
from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.people.store.approvals import Approvals
from abacus.people.types.person import Actor
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.platform.sql import Statement
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.point import point
from abacus.signals.places.kind import map_desk
from abacus.signals.places.place_desk import PlaceDesk
from abacus.signals.places.region_desk import RegionDesk
from abacus.signals.places.region_store import RegionStore

_MAP: Final[Mapping[str, Any]] = {
    "country": COUNTRY,
    "timezone": "Asia/Singapore",
    "kinds": {"sales_region": 10, "quarter": 20},
    "typical_purchase": "20",
}
_LAT: Final = 1.3
_LON: Final = 103.85
_WITHIN_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.05


def _square(id_: str, name: str, kind: str, bounds: tuple[float, float, float, float]) -> Mapping[str, Any]:
    """A region from west to east and from south to north."""
    west, east, south, north = bounds
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {
        "type": "Feature",
        "properties": {"id": id_, "name": name, "kind": kind, "country": COUNTRY},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


_REGIONS: Final = [
    _square("demo-island", "The island", "sales_region", (103.6, 104.1, 1.2, 1.48)),
    _square(RIVER, "By the river", "quarter", (103.84, 103.86, 1.28, 1.305)),
    _square("demo-orchard", "Orchard Road", "quarter", (103.82, 103.84, 1.295, 1.31)),
]


def _shop(id_: str, name: str, lat: float, lon: float) -> Place:
    return Place(id_, name, point(lat, lon), COUNTRY, KITCHEN, "demo", ("food",), hours="24/7")


_SHOPS: Final = (
    _shop("demo-quay", "Laksa at the quay", 1.301, 103.851),
    _shop("demo-bridge", "Laksa at the bridge", 1.295, 103.845),
    _shop("demo-mall", "Laksa in the mall", 1.303, 103.83),
)
_STANDING: Final = Statement("select count(*) from place where not removed")
_VISITS: Final = Statement("""
select region from member_region where member_id = :member and inside order by region
""")


class Neighbourhood(NamedTuple):
    """A house, and who loads places in it. What is loaded already stays as it is."""

    pool: Pool
    clock: Clock
    approvals: Approvals
    editor: Actor

    async def settle(self) -> None:
        """A map, regions and shops, in force when this returns."""
        maps = map_desk(self.pool, self.clock)
        draft = await maps.read(_MAP, await maps.around())
        differences = [each for each in await maps.differences([draft]) if each.changes]
        await maps.publish(differences, self.editor)
        regions = RegionDesk(self.pool, self.clock, self.approvals)
        file = await regions.read(json.dumps({"type": "FeatureCollection", "features": _REGIONS}).encode())
        for each in await regions.compare(file):
            await regions.load(each, self.editor)
        await PlaceDesk(self.pool, self.clock).load([_SHOPS], {COUNTRY: len(_SHOPS)}, self.editor)


async def placed(pool: Pool) -> Mapping[str, int]:
    """How many regions are in force, and how many shops stand."""
    regions = RegionStore(pool)
    entries = [await regions.entries(*edition) for edition in (await regions.in_force()).items()]
    return {"regions": sum(map(len, entries)), "shops": await pool.fetchval(*_STANDING())}


async def ask_what_is_near(settings: Settings, key: str) -> list[str]:
    """Where the point lies, and the shops round it from the nearest on."""
    async with partner_at(settings.places_host, settings.places_port, key) as phone:
        answer = told(await phone.get("/v1/nearby", params={"lat": _LAT, "lon": _LON}))
    return [f"near {_LAT:g}, {_LON:g}, in {' and '.join(answer['regions'])}", *_shown(answer["places"])]


async def say_where(counter: Counter, pool: Pool, member: str, now: datetime) -> list[str]:
    """The app says where the member is; its regions are known when this returns."""
    position = {"member_id": member, "lat": _LAT, "lon": _LON, "accuracy_m": 12, "at": now.isoformat()}
    told(await asked(counter.api, "/v1/positions", {"positions": [position]}))
    deadline = time.monotonic() + _WITHIN_S
    while not (visits := await slices.rows(pool, _VISITS(member=member))):
        if time.monotonic() > deadline:
            raise Unavailable("positions", f"where {member} is, is not known after {_WITHIN_S:.0f} s")
        await asyncio.sleep(_LOOK_EVERY_S)
    return [f"{member}'s phone says that it is there: {member} is in {' and '.join(row['region'] for row in visits)}"]


def _shown(places: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in places:
        is_open = "open" if each["open"] else "closed"
        offers = [f"{offer['offer']} saves {offer['saves']}" for offer in each["offers"][:1]]
        of_all = f"; the best of {counted(each['offers_in_all'], 'offer')}: {offers[0]}" if offers else ""
        yield f"  {each['name']}, {each['distance_m']:,} m, {is_open}{of_all}"
