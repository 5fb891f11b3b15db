"""Where events happened, by the regions in force."""

from collections.abc import Callable

from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.places.decide.point import point
from abacus.signals.places.decide.visit import Regions


def locating(regions: Callable[[], Regions]) -> Locate:
    """`regions` raises `Unavailable` when they were never read."""

    def locate(lat: float, lon: float) -> tuple[str, ...]:
        return tuple(each.id for each in regions().at(point(lat, lon)))

    return locate
