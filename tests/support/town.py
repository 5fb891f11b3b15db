"""A small town: two regions beside each other, the eastern one with a pond that is none of it, and three shops."""

import json
from typing import Any, Final

from abacus.core.clock import Clock
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.point import point
from abacus.signals.places.place_desk import PlaceDesk
from abacus.signals.places.region_desk import RegionDesk
from tests.support.staff import ADMIN

Ring = list[list[float]]


def _square(west: float, south: float, side: float) -> Ring:
    east, north = west + side, south + side
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def feature(id_: str, name: str, *rings: Ring, kind: str = "zone") -> dict[str, Any]:
    geometry = {"type": "Polygon", "coordinates": [*rings]}
    return {"type": "Feature", "properties": {"id": id_, "name": name, "kind": kind}, "geometry": geometry}


REGIONS: Final = {
    "type": "FeatureCollection",
    "features": [
        feature("west", "West Side", _square(103.7, 1.25, 0.1)),
        feature("centre", "The Centre", _square(103.8, 1.25, 0.1), _square(103.85, 1.28, 0.02)[::-1]),
        feature("town", "The Town", _square(103.7, 1.25, 0.2), kind="city"),
    ],
}
SHOPS: Final = (
    Place("noodle-bar", "Noodle Bar", point(1.3, 103.8), "SG", "noodles", "bowl", ("food", "noodles"), "24/7"),
    Place("bakery", "Bakery", point(1.301, 103.803), "SG", "bread", None, ("food",)),
    Place("tanjong", "Tanjong", point(1.26, 103.72), "SG", "papers", None, (), "Mo-Su off"),
)


async def load_regions(pool: Pool, clock: Clock, regions: Any = REGIONS) -> None:
    desk = RegionDesk(pool, clock, Approvals(pool, clock, {}))
    for each in await desk.compare(await desk.read(json.dumps(regions).encode(), "SG")):
        await desk.load(each, ADMIN)


async def load_town(pool: Pool, clock: Clock) -> None:
    await load_regions(pool, clock)
    await PlaceDesk(pool, clock).load([SHOPS], {"SG": len(SHOPS)}, ADMIN)
