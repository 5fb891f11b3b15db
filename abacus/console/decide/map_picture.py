"""A piece of the earth as a picture: regions as areas, places as points, and what a click on it means. Pure.

Longitudes are drawn narrower by the middle of the view, so that a kilometre is as long to the east as to the north.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from abacus.signals.places.decide.point import TURN, Point
from abacus.signals.places.decide.region import Part, Region, RegionName, Ring
from abacus.signals.places.decide.sphere import Box

WIDTH: Final = 900  # units of the picture, which are pixels where it has room
HEIGHT: Final = 600
NARROWEST: Final = 0.002  # degrees from west to east: two hundred metres
WIDEST: Final = 180.0
_FINEST: Final = 0.75  # units: points of an outline that are nearer to each other are drawn as one
_CELL: Final = 14  # units: places in one square are drawn as one
_NORTHERNMOST: Final = 85.0
_TURNS: Final = (-TURN, 0.0, TURN)  # a view may reach over the antimeridian, and so may a region


class View(NamedTuple):
    """What the picture shows: `span` degrees from west to east, around its middle."""

    lat: float
    lon: float
    span: float

    @property
    def units(self) -> float:
        """Of a degree to the east."""
        return WIDTH / self.span

    @property
    def upright(self) -> float:
        """Units of a degree to the north."""
        return self.units / math.cos(math.radians(self.lat))

    def x(self, lon: float) -> float:
        return WIDTH / 2 + (lon - self.lon) * self.units

    def y(self, lat: float) -> float:
        return HEIGHT / 2 - (lat - self.lat) * self.upright

    def clicked(self, x: float, y: float) -> tuple[float, float]:
        """The latitude and the longitude of a point of the picture."""
        lat = self.lat + (HEIGHT / 2 - y) / self.upright
        return max(-90.0, min(90.0, lat)), _wrapped(self.lon + (x - WIDTH / 2) / self.units)

    def box(self) -> Box:
        """Its west may lie below -180, and its east beyond 180."""
        half = HEIGHT / 2 / self.upright
        return Box(self.lon - self.span / 2, self.lat - half, self.lon + self.span / 2, self.lat + half)

    def zoomed(self, times: float) -> "View":
        return view_of(self.lat, self.lon, self.span * times)

    def moved(self, east: float, north: float) -> "View":
        """By a multiple of what it shows."""
        return view_of(self.lat + north * HEIGHT / self.upright, _wrapped(self.lon + east * self.span), self.span)


def view_of(lat: float, lon: float, span: float) -> View:
    """The nearest view that can be drawn."""
    return View(max(-_NORTHERNMOST, min(_NORTHERNMOST, lat)), _wrapped(lon), max(NARROWEST, min(WIDEST, span)))


def view_around(points: Iterable[Point]) -> View | None:
    """All of these points, with room around them. Points on both sides of the antimeridian are seen across it."""
    found = list(points)
    if not found:
        return None
    first = found[0][0]
    lons = [first + (lon - first + TURN / 2) % TURN - TURN / 2 for lon, _ in found]
    lats = [lat for _, lat in found]
    lat, lon = (min(lats) + max(lats)) / 2, (min(lons) + max(lons)) / 2
    share = math.cos(math.radians(max(-_NORTHERNMOST, min(_NORTHERNMOST, lat))))
    wide = max(max(lons) - min(lons), (max(lats) - min(lats)) / share * WIDTH / HEIGHT)
    return view_of(lat, lon, 1.2 * wide)


def largest_in(view: View, boxes: Iterable[tuple[RegionName, Box]]) -> list[RegionName]:
    """The regions that the view may show, the largest first."""
    seen = view.box()
    found = [
        ((box.east - box.west) * (box.north - box.south), name)
        for name, box in boxes
        if box.south <= seen.north and box.north >= seen.south and any(_meet(box, seen, turn) for turn in _TURNS)
    ]
    return [name for _, name in sorted(found, key=lambda each: (-each[0], each[1].id))]


def _meet(box: Box, seen: Box, turn: float) -> bool:
    return box.west + turn <= seen.east and box.east + turn >= seen.west


class Area(NamedTuple):
    """A region: `path` is what SVG has for `d`; its holes are left out by the rule of even and odd."""

    region: str
    name: str
    kind: str
    path: str


class Spot(NamedTuple):
    """Places that lie so near to each other that they are drawn as one; `names` has some of them."""

    x: float
    y: float
    places: Sequence[str]
    names: Sequence[str]


class MapPicture(NamedTuple):
    """What a view shows: the areas from the bottom up, and the spots above them."""

    areas: Sequence[Area]
    spots: Sequence[Spot]


class Pin(NamedTuple):
    """A place that is to be drawn."""

    id: str
    name: str
    at: Point


def drawn(view: View, regions: Iterable[Region], places: Iterable[Pin]) -> MapPicture:
    """The first regions lie at the bottom."""
    areas = [
        Area(each.id, each.name, each.kind, path)
        for each in regions
        if (path := " ".join(piece for part in each.parts for piece in _outlines(view, part)))
    ]
    return MapPicture(areas, list(_spots(view, places)))


def _outlines(view: View, part: Part) -> Iterator[str]:
    west, south, east, north = view.box()
    lons, lats = [lon for lon, _ in part[0]], [lat for _, lat in part[0]]
    for turn in _TURNS:
        if min(lons) + turn < east and max(lons) + turn > west and min(lats) < north and max(lats) > south:
            yield from (_outline(view, ring, turn) for ring in part)


def _outline(view: View, ring: Ring, turn: float) -> str:
    """A line through all points of the ring, but for points that nobody could tell apart."""
    drawn_at: list[tuple[float, float]] = []
    for lon, lat in ring[:-1]:
        x, y = view.x(lon + turn), view.y(lat)
        if not drawn_at or abs(x - drawn_at[-1][0]) + abs(y - drawn_at[-1][1]) >= _FINEST:
            drawn_at.append((x, y))
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in drawn_at) + "Z"


def _spots(view: View, places: Iterable[Pin]) -> Iterator[Spot]:
    squares: defaultdict[tuple[int, int], list[tuple[float, float, Pin]]] = defaultdict(list)
    for each in places:
        lon, lat = each.at
        x, y = view.x(view.lon + (lon - view.lon + TURN / 2) % TURN - TURN / 2), view.y(lat)
        if 0 <= x <= WIDTH and 0 <= y <= HEIGHT:
            squares[int(x // _CELL), int(y // _CELL)].append((x, y, each))
    for found in squares.values():
        across, down, pins = zip(*found, strict=True)
        yield Spot(
            round(sum(across) / len(pins), 1),
            round(sum(down) / len(pins), 1),
            [each.id for each in pins],
            [each.name for each in pins[:3]],
        )


def _wrapped(lon: float) -> float:
    return (lon + TURN / 2) % TURN - TURN / 2
