"""A day of phones that ask what is near them: members who ask often and seldom, at home, at work and on their way.

The busiest hour has three times the requests of an average one. A phone sends fourteen decimals, each time with the
noise of its satellites; one request in sixteen is sent again as it was.
"""

import math
import random
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from abacus.signals.places.decide.region import Region
from benchmarks.region_examples import net

DAY_S: Final = 86_400
PEAK: Final = 3  # times an average hour
_HOUR_S: Final = 3_600
# How much each hour asks beside the others. Lunch is the busiest.
_HOURS: Final = (2, 1, 1, 1, 2, 4, 8, 14, 16, 12, 13, 24, 46, 22, 13, 12, 14, 20, 38, 40, 28, 18, 12, 7)
_SKEW: Final = 1.1  # the n-th member asks 1/n**1.1 times as often as the first
_NOISE_M: Final = 8.0
_DEGREE_M: Final = 111_195.0
_AGAIN: Final = 1 / 16
_LEAVES: Final = 8.0  # o'clock, for work
_RETURNS: Final = 18.0
_TRAVELS_H: Final = 0.75
_CENTRES: Final = 12
_SPREAD: Final = 0.08  # of the city, around a centre

COUNTRY: Final = "SG"  # of all regions
_WEST: Final = 103.0
_SOUTH: Final = 1.0
_SIDE: Final = 0.0125  # degrees, of a region: 1.4 km
_JAGS: Final = 4


class Box(NamedTuple):
    """Where the city lies, in degrees."""

    west: float
    south: float
    east: float
    north: float


def city(many: int) -> tuple[Sequence[Region], Box]:
    """A city with at least so many regions, and where it lies."""
    rows = math.isqrt(many - 1) + 1
    drawn = list(net(rows, rows, south_west=(_WEST, _SOUTH), size=_SIDE, jags=_JAGS))
    return drawn, Box(_WEST, _SOUTH, _WEST + rows * _SIDE, _SOUTH + rows * _SIDE)


class Request(NamedTuple):
    """A phone asks at a second of the day."""

    at_s: float
    member: int
    lat: float
    lon: float


class _Ways(NamedTuple):
    """Where a member lives and works, and how late it is with everything, in hours."""

    home: tuple[float, float]
    work: tuple[float, float]
    late_h: float

    def at(self, hour: float) -> tuple[float, float]:
        there = min(1.0, max(0.0, (hour - _LEAVES - self.late_h) / _TRAVELS_H))
        back = min(1.0, max(0.0, (hour - _RETURNS - self.late_h) / _TRAVELS_H))
        share = there - back
        return (
            self.home[0] + share * (self.work[0] - self.home[0]),
            self.home[1] + share * (self.work[1] - self.home[1]),
        )


def requests(number: int, members: int, box: Box, seed: int = 1) -> Iterator[Request]:
    """So many requests in the order of the day; a number of them is the same in each run."""
    rng = random.Random(seed)
    ways = _ways(members, box, rng)
    weights = list(accumulate(1 / rank**_SKEW for rank in range(1, members + 1)))
    share = math.cos(math.radians((box.south + box.north) / 2))
    last = Request(0.0, 0, box.south, box.west)
    for at_s in _moments(number, rng):
        if rng.random() < _AGAIN and last.at_s:
            yield last._replace(at_s=at_s)
            continue
        (member,) = rng.choices(range(members), cum_weights=weights)
        lon, lat = ways[member].at(at_s / _HOUR_S)
        north, east = rng.gauss(0, _NOISE_M) / _DEGREE_M, rng.gauss(0, _NOISE_M) / _DEGREE_M / share
        last = Request(at_s, member, round(lat + north, 14), round(lon + east, 14))
        yield last


def of_the_busiest_hour(made: Iterator[Request]) -> Sequence[Request]:
    begins = _HOURS.index(max(_HOURS)) * _HOUR_S
    return [each for each in made if begins <= each.at_s < begins + _HOUR_S]


def _moments(number: int, rng: random.Random) -> Sequence[float]:
    hours = rng.choices(range(len(_HOURS)), _HOURS, k=number)
    return sorted(hour * _HOUR_S + rng.random() * _HOUR_S for hour in hours)


def _ways(members: int, box: Box, rng: random.Random) -> Sequence[_Ways]:
    width, height = box.east - box.west, box.north - box.south
    centres = [(rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9)) for _ in range(_CENTRES)]
    weights = [1 / rank for rank in range(1, _CENTRES + 1)]

    def around() -> tuple[float, float]:
        ((across, up),) = rng.choices(centres, weights)
        return (
            box.west + width * min(0.999, max(0.001, rng.gauss(across, _SPREAD))),
            box.south + height * min(0.999, max(0.001, rng.gauss(up, _SPREAD))),
        )

    return [_Ways(around(), around(), rng.uniform(-1.5, 1.5)) for _ in range(members)]
