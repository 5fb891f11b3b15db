"""A region: an area of the earth with a name, which a country team draws."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from abacus.signals.places.decide.point import Point

Ring: TypeAlias = tuple[Point, ...]  # closed; longitudes go on beyond 180 where it crosses the antimeridian
Part: TypeAlias = tuple[Ring, ...]  # its outline, and its holes


class RegionName(NamedTuple):
    """What is told of a region that a point lies in. The id is unique over all countries."""

    id: str
    name: str
    kind: str
    priority: int
    country: str

    @property
    def rank(self) -> tuple[int, str]:
        """Where regions overlap, the one of the higher priority is told first, and then the lower id."""
        return -self.priority, self.id


@dataclass(frozen=True)
class Region:
    """Its points are those inside an odd number of its rings."""

    id: str
    name: str
    kind: str
    priority: int
    country: str
    parts: tuple[Part, ...]

    @property
    def called(self) -> RegionName:
        return RegionName(self.id, self.name, self.kind, self.priority, self.country)
