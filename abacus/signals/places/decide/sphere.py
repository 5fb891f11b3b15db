"""Distances on the earth, taken as a sphere."""

import math
from typing import Final, NamedTuple

from abacus.signals.places.decide.point import TURN, Point

EARTH_M: Final = 6_371_008.8  # its mean radius
DEGREE_M: Final = math.radians(EARTH_M)  # along a meridian
_HALF: Final = TURN / 2
_A_TRACE_MORE: Final = 1 + 1e-9
_STEPS: Final = 8  # of Newton's way along an edge: three are usual
_NEAR: Final = 1e-12  # as a share of an edge


class Box(NamedTuple):
    """From its south-western corner to its north-eastern one. `east` goes on beyond 180 across the antimeridian."""

    west: float
    south: float
    east: float
    north: float


def metres_between(one: Point, other: Point) -> float:
    half_lat = math.radians(other[1] - one[1]) / 2
    half_lon = math.radians(other[0] - one[0]) / 2
    across = math.cos(math.radians(one[1])) * math.cos(math.radians(other[1]))
    return 2 * EARTH_M * math.asin(min(1.0, math.sqrt(math.sin(half_lat) ** 2 + across * math.sin(half_lon) ** 2)))


def box_around(point: Point, metres: float) -> Box:
    """All that is so near, and a trace more. It may begin west of the antimeridian and end east of it."""
    lon, lat = point
    reach = metres / DEGREE_M * _A_TRACE_MORE
    south, north = lat - reach, lat + reach
    if south <= -TURN / 4 or north >= TURN / 4:  # a pole is within, and with it all meridians
        return Box(-_HALF, max(south, -TURN / 4), _HALF, min(north, TURN / 4))
    aside = math.degrees(math.asin(math.sin(math.radians(reach)) / math.cos(math.radians(lat)))) * _A_TRACE_MORE
    return Box(lon - aside, south, lon + aside, north)


def metres_to_box(point: Point, box: Box) -> float:
    """To the nearest point of the box; 0 inside it."""
    lon, lat = point
    west, south, east, north = box
    beyond = (lon - west) % TURN - (east - west)
    if beyond <= 0:
        return DEGREE_M * max(0.0, south - lat, lat - north)
    side = east if beyond <= (TURN - (east - west)) / 2 else west
    return _metres_to_meridian(point, side, south, north)


def _metres_to_meridian(point: Point, lon: float, south: float, north: float) -> float:
    """To the part of a meridian from a latitude up to another."""
    turn, lat = math.radians(lon - point[0]), math.radians(point[1])
    cosine = math.cos(turn)
    if cosine > 0 and south < math.degrees(math.atan(math.tan(lat) / cosine)) < north:
        return EARTH_M * math.asin(min(1.0, abs(math.cos(lat) * math.sin(turn))))
    return min(metres_between(point, (lon, south)), metres_between(point, (lon, north)))


def metres_to_edge(point: Point, begin: Point, end: Point) -> float:
    """To the nearest point of an edge, which is straight in longitude and latitude: where the cosine of the angle
    between the two is greatest, by Newton's way.
    """
    nearest = min(metres_between(point, begin), metres_between(point, end))
    if nearest >= EARTH_M:
        return nearest  # so far away that a corner is near enough
    lat = math.radians(point[1])
    sin_lat, cos_lat = math.sin(lat), math.cos(lat)
    turn0, lat0 = math.radians((begin[0] - point[0] + _HALF) % TURN - _HALF), math.radians(begin[1])
    d_turn, d_lat = math.radians(end[0] - begin[0]), math.radians(end[1] - begin[1])
    flat_turn = d_turn * cos_lat
    length = flat_turn * flat_turn + d_lat * d_lat
    share = ((-turn0 * cos_lat) * flat_turn + (lat - lat0) * d_lat) / length if length else 0.0
    for _ in range(_STEPS):
        share = min(1.0, max(0.0, share))
        turn, at = turn0 + share * d_turn, lat0 + share * d_lat
        sin_at, cos_at, sin_turn, cos_turn = math.sin(at), math.cos(at), math.sin(turn), math.cos(turn)
        cosine = sin_lat * sin_at + cos_lat * cos_at * cos_turn
        rises = d_lat * (sin_lat * cos_at - cos_lat * sin_at * cos_turn) - d_turn * cos_lat * cos_at * sin_turn
        bends = (
            2 * d_lat * d_turn * cos_lat * sin_at * sin_turn
            - d_lat * d_lat * cosine
            - d_turn * d_turn * cos_lat * cos_at * cos_turn
        )
        if bends >= 0 or abs(step := rises / bends) < _NEAR:
            break
        share -= step
    share = min(1.0, max(0.0, share))
    there = begin[0] + share * (end[0] - begin[0]), begin[1] + share * (end[1] - begin[1])
    return min(nearest, metres_between(point, there))
