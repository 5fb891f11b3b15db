"""Whether a point is likely to be where a country is. Pure."""

from typing import Final

from abacus.core.time_zones import cities_by_country
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.sphere import metres_between

_NORTH_END: Final = 90.0
_NEAR: Final = 8.0  # degrees
_FAR: Final = 4  # times as far


def looks_swapped(point: Point, country: str) -> bool:
    """Whether the point lies far from every large city of the country, and much nearer to one with its two coordinates
    the other way round.
    """
    lon, lat = point
    cities = cities_by_country().get(country, ())
    if abs(lon) > _NORTH_END or not cities or any(abs(lon - x) < _NEAR and abs(lat - y) < _NEAR for x, y in cities):
        return False
    as_written = min(metres_between(point, city) for city in cities)
    return _FAR * min(metres_between((lat, lon), city) for city in cities) < as_written
