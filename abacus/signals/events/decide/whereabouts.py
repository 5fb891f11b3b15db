"""Where an event happened: coordinates become the ids of regions as they are read, and nothing else is kept. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from abacus.signals.events.decide.places import Coordinates, Places, Pointer
from abacus.signals.events.decide.pointers import Get, Message, Read, getter, taker_if_there
from abacus.signals.events.decide.values import Wrong, read_latitude, read_longitude, read_regions

# The ids of the regions that a latitude and a longitude lie in, the first one first. Raises `Unavailable`.
Locate: TypeAlias = Callable[[float, float], tuple[str, ...]]

KEPT: Final = "regions"  # in the place of a latitude, once the coordinates were taken out


class Whereabouts(NamedTuple):
    """Reads the regions of a message. `checks` find what of it is at fault."""

    take: Get  # raises `Wrong`
    checks: tuple[tuple[Pointer, Get], ...] = ()


def whereabouts(places: Places, locate: Locate | None) -> Whereabouts:
    """Without `locate` coordinates tell nothing."""
    if places.coordinates is None:
        return Whereabouts(_nothing)
    by_coordinates = _by_coordinates(places.coordinates, locate)
    if places.regions is None:
        return by_coordinates
    named = taker_if_there(places.regions, read_regions)

    def take(message: Message) -> Any:
        regions = named(message)
        return by_coordinates.take(message) if regions is None else regions

    return Whereabouts(take, ((places.regions, named), *by_coordinates.checks))


def without_coordinates(message: dict[str, Any], places: Places, locate: Locate | None) -> None:
    """Takes the coordinates out of a message, and leaves its regions instead, where they can be told."""
    if places.coordinates is None:
        return
    try:
        regions = whereabouts(places, locate).take(message)
    except Wrong:
        regions = None
    _put(message, places.coordinates.lon, None)
    if places.regions is None:
        _put(message, places.coordinates.lat, None if regions is None else {KEPT: list(regions)})
        return
    _put(message, places.coordinates.lat, None)
    message[places.regions.steps[-1]] = regions  # in Abacus' own form, which has them beside all else


def _by_coordinates(places: Coordinates, locate: Locate | None) -> Whereabouts:
    get_lat, get_lon = getter(places.lat), getter(places.lon)

    def take(message: Message) -> tuple[str, ...] | None:
        lat, lon = get_lat(message), get_lon(message)
        if lat is None and lon is None:
            return None
        if type(lat) is dict:
            return read_regions(lat.get(KEPT))
        degrees = read_latitude(lat), read_longitude(lon)
        return None if locate is None else locate(*degrees)

    def check(own: Get, other: Get, read: Read) -> Get:
        return lambda message: None if own(message) is None and other(message) is None else read(own(message))

    checks = (
        (places.lat, check(get_lat, get_lon, _lat_or_regions)),
        (places.lon, check(get_lon, _unless_regions(get_lat), read_longitude)),
    )
    return Whereabouts(take, checks)


def _nothing(_: Message) -> None:
    """Nobody says where it happened."""


def _lat_or_regions(value: object) -> Any:
    return read_regions(value.get(KEPT)) if isinstance(value, Mapping) else read_latitude(value)


def _unless_regions(get_lat: Get) -> Get:
    """The latitude, where it is one: regions stand in the place of both."""

    def get(message: Message) -> Any:
        lat = get_lat(message)
        return None if type(lat) is dict else lat

    return get


def _put(message: dict[str, Any], pointer: Pointer, value: object) -> None:
    *way, last = pointer.steps
    parent = getter(Pointer(pointer.text.rpartition("/")[0]))(message) if way else message
    if isinstance(parent, dict) and last in parent:
        parent[last] = value
    elif isinstance(parent, list) and last.isascii() and last.isdigit() and int(last) < len(parent):
        parent[int(last)] = value
