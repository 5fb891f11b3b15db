"""The shape of a region, as GeoJSON draws it: read with every fault at its path. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeGuard

from abacus.core.fields import shown
from abacus.signals.places.decide.contacts import TooIntricate, contacts_of
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.region import Part, Ring
from abacus.signals.places.decide.ring import in_one_piece, is_counter_clockwise, lies_inside, placed

Tell: TypeAlias = Callable[[str, str], None]  # of a path, what is to be said of it

MOST_POINTS: Final = 200_000  # of a region
MOST_RINGS: Final = 2_000
_FEWEST: Final = 4  # points of a ring, the last of which is the first
_ENDS: Final = (("longitude", 180.0), ("latitude", 90.0))
_LONG: Final = 1e9  # degrees, which are told cut short


class Told(NamedTuple):
    """Where faults are told, and what was mended."""

    fault: Tell
    mended: Tell


class _Written(NamedTuple):
    """A ring, the path where it is written, and the part of the region that it belongs to."""

    path: str
    ring: Ring
    part: int


def read_drawing(geometry: object, told: Told) -> tuple[Part, ...]:
    """The parts of a polygon or of several. Faults are told; where there are any, the answer is no shape."""
    polygons = _polygons(geometry, told)
    count = _Counted()
    parts = [_part(path, polygon, count.telling(told)) for path, polygon in polygons]
    if count.faults:
        return ()
    _check_rings([_Written(*each, part) for part, rings in enumerate(parts) for each in rings], told)
    return tuple(tuple(ring for _, ring in rings) for rings in parts)


def _polygons(geometry: object, told: Told) -> Sequence[tuple[str, object]]:
    """Each with its path; none where there are faults."""
    values = geometry if isinstance(geometry, Mapping) else {}
    sort, coordinates = values.get("type"), values.get("coordinates")
    path = "geometry.coordinates"
    polygons: list[tuple[str, object]] = []
    if not values:
        told.fault("geometry", f"{shown(geometry)}; write a Polygon or a MultiPolygon")
    elif sort not in {"Polygon", "MultiPolygon"}:
        told.fault("geometry.type", f"{shown(sort)}; a region is a Polygon or a MultiPolygon")
    elif not isinstance(coordinates, list) or not coordinates:
        told.fault(path, f"{shown(coordinates)}; write an array of rings")
    elif sort == "Polygon":
        polygons = [(path, coordinates)]
    else:
        polygons = [(f"{path}[{place}]", polygon) for place, polygon in enumerate(coordinates)]
    return polygons if _is_small_enough(polygons, told) else ()


class _Counted:
    def __init__(self) -> None:
        self.faults = 0

    def telling(self, told: Told) -> Told:
        def fault(path: str, message: str) -> None:
            self.faults += 1
            told.fault(path, message)

        return Told(fault, told.mended)


def _is_small_enough(polygons: Sequence[tuple[str, object]], told: Told) -> bool:
    rings = [ring for _, polygon in polygons if isinstance(polygon, list) for ring in polygon]
    points = sum(len(ring) for ring in rings if isinstance(ring, list))
    for count, most, what in ((len(rings), MOST_RINGS, "rings"), (points, MOST_POINTS, "points")):
        if count > most:
            told.fault("geometry.coordinates", f"{count} {what}; a region has at most {most}: cut it into several")
            return False
    return True


def _part(path: str, polygon: object, told: Told) -> list[tuple[str, Ring]]:
    if not isinstance(polygon, list) or not polygon:
        told.fault(path, f"{shown(polygon)}; write an array of rings: the outline, and its holes")
        return []
    rings: list[tuple[str, Ring]] = []
    for place, written in enumerate(polygon):
        ring = _ring(f"{path}[{place}]", written, told)
        if not ring:
            continue
        is_hole = place > 0
        if is_counter_clockwise(ring) is is_hole:
            which, way = ("hole", "counter-clockwise") if is_hole else ("outline", "clockwise")
            told.mended(f"{path}[{place}]", f"the {which} goes round {way}; it was turned the other way")
            ring = ring[::-1]
        west = min(x for x, _ in rings[0][1]) if rings and is_hole else None
        rings.append((f"{path}[{place}]", placed(ring) if west is None else placed(ring, west)))
    return rings


def _ring(path: str, written: object, told: Told) -> Ring:
    """None of its points where there are faults."""
    if not isinstance(written, list):
        told.fault(path, f"{shown(written)}; write an array of points")
        return ()
    points = [point for place, each in enumerate(written) if (point := _point(f"{path}[{place}]", each, told))]
    if len(points) < len(written):
        return ()
    if len(points) < _FEWEST:
        told.fault(path, f"{len(points)} points; a ring has at least {_FEWEST}, and the last one is the first again")
        return ()
    ring = in_one_piece(points)
    fault = ""
    if points[0] != points[-1]:
        fault = f"not closed: it begins at {_at(points[0])} and ends at {_at(points[-1])}"
    elif ring[0] != ring[-1]:
        fault = "goes round a pole; cut the region along a meridian, and leave the pole itself out"
    elif len(ring) < _FEWEST:
        fault = "its points are fewer than three different ones"
    if fault:
        told.fault(path, fault)
    return () if fault else ring


def _point(path: str, position: object, told: Told) -> Point | None:
    match position:
        case [lon, lat, *_] if _is_number(lon) and _is_number(lat):
            written = lon, lat
        case _:
            told.fault(path, f"{shown(position)}; write two numbers, the longitude first")
            return None
    beyond = [not abs(degrees) <= end for degrees, (_, end) in zip(written, _ENDS, strict=True)]
    if not any(beyond):
        return float(lon), float(lat)
    would_do = all(abs(degrees) <= end for degrees, (_, end) in zip(written[::-1], _ENDS, strict=True))
    hint = "; the coordinates look swapped: GeoJSON has the longitude first" if would_do else ""
    for degrees, (name, end), is_beyond in zip(written, _ENDS, beyond, strict=True):
        if is_beyond:
            read = f"{degrees:g}" if abs(degrees) < _LONG else shown(degrees)
            told.fault(path, f"the {name} {read} is not between {-end:g} and {end:g}{hint}")
    return None


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, float | int) and not isinstance(value, bool)


def _at(point: Point) -> str:
    return f"{point[0]:g}, {point[1]:g}"


def _check_rings(rings: Sequence[_Written], told: Told) -> None:
    try:
        contacts = list(contacts_of([each.ring for each in rings]))
    except TooIntricate:
        told.fault("geometry.coordinates", "too many edges lie across each other to be looked at; draw it more simply")
        return
    touching: set[tuple[int, int]] = set()
    found: set[tuple[int, int]] = set()  # what was told once
    for one, other, at, crosses in sorted(contacts, key=lambda contact: (contact[0], contact[1], not contact[3])):
        if one != other and not crosses:
            touching |= {(one, other), (other, one)}
        elif (one, other) not in found:
            found.add((one, other))
            does = "crosses" if crosses else "touches"
            what = "itself" if one == other else rings[other].path
            told.fault(rings[one].path, f"{does} {what} at {_at(at)}")
    if not found:
        _check_nesting(rings, touching, told)


def _check_nesting(rings: Sequence[_Written], touching: set[tuple[int, int]], told: Told) -> None:
    """Each hole lies in its outline and in no other hole, and each part lies outside the others or in a hole of theirs.
    A point of two parts would lie in an even number of rings, and so in no region.
    """
    outlines = {each.part: place for place, each in reversed(list(enumerate(rings)))}

    def inside(one: int, other: int) -> bool | None:
        throughout = (one, other) in touching
        return lies_inside(rings[one].ring, rings[other].ring, throughout=throughout)

    for one, other in _beside([each.ring for each in rings]):
        here, there = rings[one], rings[other]
        are_holes = one != outlines[here.part], other != outlines[there.part]
        if here.part == there.part:
            if are_holes == (True, True) and inside(one, other) is not False:
                told.fault(here.path, f"lies in the hole {there.path}")
        elif are_holes == (False, False) and inside(one, other) is not False:
            holes = [place for place, each in enumerate(rings) if each.part == there.part and place != other]
            if not any(inside(one, hole) for hole in holes):
                told.fault(here.path, f"lies in {there.path}, which is of the same region")
    for place, each in enumerate(rings):
        outline = outlines[each.part]
        if place != outline and not inside(place, outline):
            told.fault(each.path, f"lies outside its outline {rings[outline].path}, or beside it")


def _beside(rings: Sequence[Ring]) -> list[tuple[int, int]]:
    """Each two rings, both ways, whose boxes overlap."""
    boxes = []
    for place, ring in enumerate(rings):
        longitudes, latitudes = zip(*ring, strict=True)
        boxes.append((min(longitudes), max(longitudes), min(latitudes), max(latitudes), place))
    boxes.sort()
    pairs: list[tuple[int, int]] = []
    for at, (_, east, south, north, one) in enumerate(boxes):
        for west, _, low, high, other in boxes[at + 1 :]:
            if west > east:
                break
            if low <= north and high >= south:
                pairs += ((one, other), (other, one))
    return sorted(pairs)
