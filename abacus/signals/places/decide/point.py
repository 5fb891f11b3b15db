"""Points of the earth, exactly.

Coordinates are multiples of 2⁻⁴³ degrees, twelve thousandths of a micrometre on the ground. The differences of two of
them, and turns round the earth, are exact as floats.
"""

import math
from typing import Final, TypeAlias

from abacus.core.fields import DocumentFaults, Fault

Point: TypeAlias = tuple[float, float]  # longitude and latitude in degrees, as GeoJSON has them

TURN: Final = 360.0
UNIT: Final = 2.0**-43
_EAST_END: Final = 180.0  # the same meridian as -180, under which its points stand
_NORTH_END: Final = 90.0
_NORTHERNMOST: Final = _NORTH_END - UNIT  # a pole is a point of no region, and takes the place beside it
_ROUNDS: Final = 768.0  # floats of 512 to 1024 are multiples of 2⁻⁴³


def rounded(degrees: float) -> float:
    """The nearest coordinate. For degrees of -180 to 180."""
    return (degrees + _ROUNDS) - _ROUNDS


def point(lat: float, lon: float) -> Point:
    """Raises `DocumentFaults` that name `lat` or `lon`, and say nothing of where it would be: it may be a member's."""
    if -_NORTH_END <= lat <= _NORTH_END and -_EAST_END <= lon <= _EAST_END:
        longitude, latitude = rounded(lon), rounded(lat)
        return (
            longitude if longitude < _EAST_END else longitude - TURN,
            latitude if latitude < _NORTH_END else _NORTHERNMOST,
        )
    raise DocumentFaults(_faults(lat, lon))


def _faults(lat: float, lon: float) -> list[Fault]:
    are_swapped = abs(lon) <= _NORTH_END < abs(lat) <= _EAST_END
    faults = []
    for name, degrees, end in (("lat", lat, _NORTH_END), ("lon", lon, _EAST_END)):
        if not math.isfinite(degrees):
            faults.append(Fault(name, "it is not a number of degrees"))
        elif abs(degrees) > end:
            hint = "; latitude and longitude look swapped" if are_swapped else ""
            faults.append(Fault(name, f"it is not between {-end:g} and {end:g}{hint}"))
    return faults
