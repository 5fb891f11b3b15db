"""The query of a request about a point, read strictly: a cache in front may have read another one than we.

Each name stands once, none is unknown, and a coordinate is a plain decimal. A refusal says nothing of where the point
is, since refusals are kept.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_to_bytes

from abacus.api.api_problem import FieldFault
from abacus.api.problems import invalid
from abacus.core.fields import DocumentFaults
from abacus.core.ids import ID_PATTERN
from abacus.engage.nearby.decide.ask import NearbyAsk
from abacus.signals.places.decide.place_index import FARTHEST_M, MOST_K, Sought
from abacus.signals.places.decide.point import Point, point

_DECIMAL: Final = re.compile(r"-?[0-9]{1,3}(\.[0-9]{1,20})?")
_WHOLE: Final = re.compile(r"[0-9]{1,16}")
_NAME: Final = re.compile(r"[A-Za-z_]{1,40}")
_TEXT: Final = re.compile(r"[^\x00-\x1f\x7f]{1,200}")
_ID: Final = re.compile(ID_PATTERN)
_FIELDS: Final = {"open": "open_now", "radius": "radius_m"}  # that have another name in an address
_AT_LEAST: Final = "at_least"
_FLAGS: Final = {"true": True, "false": False}
_MOST_NAMES: Final = 20
LATEST: Final = 10**15  # version
_LONGEST_SHOWN: Final = 40


class _Wrong(Exception):
    """What is wrong with the value of a name."""


def point_of(query: bytes) -> Point:
    """The point of a query that has nothing else. Raises `ApiProblem`."""
    values, faults = _read(query, {})
    return _point(values, faults)


class CategoriesAsk(NamedTuple):
    """A point, and a version of places that the caller knows of."""

    point: Point
    at_least: int


def categories_of(query: bytes) -> CategoriesAsk:
    """Raises `ApiProblem`."""
    values, faults = _read(query, {_AT_LEAST: _READERS[_AT_LEAST]})
    return CategoriesAsk(_point(values, faults), values.get(_AT_LEAST, 0))


def nearby_of(query: bytes) -> NearbyAsk:
    """Raises `ApiProblem`."""
    values, faults = _read(query, _READERS)
    at = _point(values, faults)
    del values["lat"], values["lon"]
    sought = Sought(values.pop("merchant", None), values.pop("brand", None), values.pop("category", None))
    named = {_FIELDS.get(name, name): value for name, value in values.items()}
    return NearbyAsk(at, **named, sought=sought)


def _read(query: bytes, readers: Mapping[str, Callable[[str], Any]]) -> tuple[dict[str, Any], list[FieldFault]]:
    values: dict[str, Any] = {}
    faults: list[FieldFault] = []
    parts = query.split(b"&") if query else []
    if len(parts) > _MOST_NAMES:
        raise invalid([FieldFault(pointer="query", detail=f"{len(parts)} parameters; there are {len(readers) + 2}")])
    for part in parts:
        name, value = map(_text, part.partition(b"=")[::2])
        if name in values:
            faults.append(_fault(name, "it stands twice"))
        elif name in ("lat", "lon"):
            values[name] = value
        elif name not in readers:
            faults.append(_fault(name, "unknown"))
        else:
            try:
                values[name] = readers[name](value)
            except _Wrong as wrong:
                values[name] = None
                faults.append(_fault(name, str(wrong)))
    return values, faults


def _point(values: Mapping[str, str], faults: list[FieldFault]) -> Point:
    degrees: dict[str, float] = {}
    for name in ("lat", "lon"):
        text = values.get(name)
        if text is None:
            faults.append(_fault(name, "missing"))
        elif _DECIMAL.fullmatch(text) is None:
            faults.append(_fault(name, "it is no decimal of degrees, such as 1.283, of 20 decimals at most"))
        else:
            degrees[name] = float(text)
    found = None
    if len(degrees) > 1:
        try:
            found = point(**degrees)
        except DocumentFaults as error:
            faults += [_fault(each.path, each.message) for each in error.faults]
    if faults or found is None:
        raise invalid(faults)
    return found


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if _WHOLE.fullmatch(text) is None or not least <= int(text) <= most:
            raise _Wrong(f"{_shown(text)} is no whole number from {least} to {most:,}")
        return int(text)

    return read


def _flag(text: str) -> bool:
    if text not in _FLAGS:
        raise _Wrong(f"{_shown(text)}; write true or false")
    return _FLAGS[text]


def _value(text: str) -> str:
    if _TEXT.fullmatch(text) is None:
        raise _Wrong(f"{_shown(text)} is no text of 1 to 200 characters")
    return text


def _member(text: str) -> str:
    if _ID.fullmatch(text) is None:
        raise _Wrong(f"{_shown(text)} is no id of a member")
    return text


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "k": _whole(1, MOST_K),
    "radius": _whole(1, FARTHEST_M),
    "open": _flag,
    "merchant": _value,
    "brand": _value,
    "category": _value,
    "member_id": _member,
    _AT_LEAST: _whole(0, LATEST),
}


def _text(raw: bytes) -> str:
    """As forms are written: what is no UTF-8 fits nothing."""
    if b"%" in raw or b"+" in raw:
        raw = unquote_to_bytes(raw.replace(b"+", b" "))
    return raw.decode("utf-8", "surrogateescape")


def _fault(name: str, detail: str) -> FieldFault:
    """A name that is no word may be a coordinate that was written without one."""
    if _NAME.fullmatch(name) is None:
        return FieldFault(pointer="query", detail=f"a name that is no word: {detail}")
    return FieldFault(pointer=f"query/{name}", detail=detail)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")
