"""Ways to make a key of a point, under which an answer is kept for others who ask from near it."""

from collections.abc import Callable
from typing import Final, NamedTuple

from abacus.platform.reading.types import Meaning
from abacus.signals.places.decide.point import point
from abacus.signals.places.decide.region_index import RegionIndex

_BASE32: Final = "0123456789bcdefghjkmnpqrstuvwxyz"
_GEOHASH: Final = 7  # characters: a cell of 153 by 153 metres


class Way(NamedTuple):
    """`key_of` is the key of a point; None where nothing is kept. An exact one tells the regions."""

    name: str
    key_of: Callable[[float, float], Meaning] | None
    is_exact: bool = False


def by_request(lat: float, lon: float) -> Meaning:
    return f"{lat} {lon}"


def rounded_to(decimals: int) -> Callable[[float, float], Meaning]:
    scale = 10**decimals

    def key_of(lat: float, lon: float) -> Meaning:
        return round(lat * scale), round(lon * scale)

    return key_of


def geohash(lat: float, lon: float) -> Meaning:
    """The usual one: bits of longitude and latitude take turns, five a character."""
    west, east, south, north = -180.0, 180.0, -90.0, 90.0
    text: list[str] = []
    bits = value = 0
    while len(text) < _GEOHASH:
        if bits % 2 == len(text) % 2:
            middle = (west + east) / 2
            is_upper = lon >= middle
            west, east = (middle, east) if is_upper else (west, middle)
        else:
            middle = (south + north) / 2
            is_upper = lat >= middle
            south, north = (middle, north) if is_upper else (south, middle)
        value, bits = value * 2 + is_upper, bits + 1
        if bits == 5:  # noqa: PLR2004  # of a character
            text.append(_BASE32[value])
            bits, value = 0, 0
    return "".join(text)


def by_regions(index: Callable[[], RegionIndex]) -> Callable[[float, float], Meaning]:
    """What the answer follows from: the regions that the point lies in, exactly, and their edition."""

    def key_of(lat: float, lon: float) -> Meaning:
        held = index()
        return (held.edition, *(each.id for each in held.at(point(lat, lon))))

    return key_of


def ways(index: Callable[[], RegionIndex]) -> tuple[Way, ...]:
    return (
        Way("no cache", None),
        Way("by request", by_request),
        Way("rounded to 4 decimals", rounded_to(4)),
        Way("rounded to 3 decimals", rounded_to(3)),
        Way(f"geohash of {_GEOHASH} characters", geohash),
        Way("by the regions", by_regions(index), is_exact=True),
    )
