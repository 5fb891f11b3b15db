"""The tables of a source document that say where events and their variables stand: read, and written. Pure."""

import re
from collections.abc import Mapping
from typing import Final

from abacus.core import fields
from abacus.core.document_text import Inline
from abacus.core.fields import Bad, Fields
from abacus.core.ids import NAME_PATTERN
from abacus.signals.events.decide.places import Always, Coordinates, IdPlace, Places, Pointer, TimeFormat, Variable
from abacus.signals.events.types import VariableType

VARIABLE_PATTERN: Final = "[a-z][a-z0-9_]{0,39}"
NOT_VARIABLES: Final = frozenset({"member_id", "country"})  # every event has its own place for these
MAX_TYPES: Final = 200
MAX_VARIABLES: Final = 100  # of one type
MAX_POINTER: Final = 256  # characters
MAX_ID_PARTS: Final = 5

_POINTER: Final = re.compile(rf"(?=.{{1,{MAX_POINTER}}}$)(?:/(?:[^/~\x00-\x1f\x7f\ud800-\udfff]|~[01])*)+")
_TYPE: Final = re.compile(NAME_PATTERN)
_VARIABLE: Final = re.compile(VARIABLE_PATTERN)

_NO_POINTER: Final = Pointer("")
_NO_ID: Final[IdPlace] = ()

_pointer_text: Final = fields.matching(
    _POINTER, f"is not a JSON pointer; write at most {MAX_POINTER} characters such as /city/id"
)
_type_name: Final = fields.matching(
    _TYPE, "is not a type of events; write at most 64 letters, digits, dots, dashes and underscores (rain.drop)"
)
_variable_text: Final = fields.matching(
    _VARIABLE, "is not a variable; write at most 40 small letters, digits and underscores (city_id)"
)
_variable_type: Final = fields.one_of(VariableType, "a type of variables")
_time_format: Final = fields.one_of(TimeFormat, "a format of times")


def read_places(table: Fields, types: Mapping[str, object]) -> Places | None:
    """The table `fields`; None where it is left out. `types` are the types that are taken."""
    type_ = _type_place(table, types)
    id_ = table.read("id", _id_place, _NO_ID)
    time, time_format = _time_place(table)
    member = table.read_if_there("member", _pointer, None)
    country = table.read_if_there("country", _pointer, None)
    ids = _ids(table.table("ids", optional=True), types)
    coordinates = _coordinates(table)
    table.refuse_unknown()
    return Places(type_, id_, time, time_format, member, country, ids, coordinates) if table.values else None


def read_types(top: Fields) -> dict[str, dict[str, Variable]]:
    """The table `types`: the variables of each type. One that is given by its type alone stands under its own name."""
    tables = top.table("types").tables(_type_name, at_most=MAX_TYPES)
    return {type_: _variables(type_, table) for type_, table in tables.items()}


def places_document(places: Places) -> dict[str, object]:
    """The table `fields`, as `read_places` takes it."""
    type_ = Inline(always=places.type.type) if isinstance(places.type, Always) else places.type.text
    document: dict[str, object] = {"type": type_, "id": _id_document(places.id)}
    for name, pointer in (("member", places.member), ("country", places.country)):
        if pointer is not None:
            document[name] = pointer.text
    if places.coordinates is not None:
        document |= {name: pointer.text for name, pointer in places.coordinates._asdict().items()}
    document["time"] = places.time.text
    if places.time_format is not TimeFormat.RFC3339:
        document["time"] = Inline(pointer=places.time.text, format=places.time_format.value)
    if places.ids:
        document["ids"] = {type_: _id_document(place) for type_, place in sorted(places.ids.items())}
    return document


def types_document(variables: Mapping[str, Mapping[str, Variable]]) -> dict[str, object]:
    """The table `types`, as `read_types` takes it, in alphabetical order."""
    return {
        type_: {name: _variable_document(name, variable) for name, variable in sorted(each.items())}
        for type_, each in sorted(variables.items())
    }


def _ids(table: Fields, types: Mapping[str, object]) -> dict[str, IdPlace]:
    ids = {type_: table.read(type_, _id_place, _NO_ID) for type_ in table.values}
    for type_ in ids:
        if type_ not in types:
            table.note(type_, "not among the types of this source")
    return ids


def _coordinates(table: Fields) -> Coordinates | None:
    lat, lon = (table.read_if_there(name, _pointer, None) for name in Coordinates._fields)
    if (lat is None) != (lon is None) and ("lat" in table.values) != ("lon" in table.values):
        missing, other = ("lat", "lon") if lat is None else ("lon", "lat")
        table.note(missing, f"missing; {other} alone says nothing")
    return None if lat is None or lon is None else Coordinates(lat, lon)


def _type_place(table: Fields, types: Mapping[str, object]) -> Pointer | Always:
    if not isinstance(table.values.get("type"), Mapping):
        return table.read("type", _pointer, _NO_POINTER)
    inner = table.table("type")
    always = inner.read("always", _type_name, "")
    if always and always not in types:
        inner.note("always", f"{always!r} is not among the types of this source")
    inner.refuse_unknown()
    return Always(always)


def _time_place(table: Fields) -> tuple[Pointer, TimeFormat]:
    if not isinstance(table.values.get("time"), Mapping):
        return table.read("time", _pointer, _NO_POINTER), TimeFormat.RFC3339
    inner = table.table("time")
    pointer = inner.read("pointer", _pointer, _NO_POINTER)
    format_ = inner.read_if_there("format", _time_format, TimeFormat.RFC3339)
    inner.refuse_unknown()
    return pointer, format_


def _variables(type_: str, table: Fields) -> dict[str, Variable]:
    return {name: _variable(type_, name, table) for name in table.names(_variable_name, at_most=MAX_VARIABLES)}


def _variable(type_: str, name: str, table: Fields) -> Variable:
    value = table.values[name]
    if not isinstance(value, Mapping):
        return Variable(_own_place(name), table.read(name, _variable_type, VariableType.TEXT))
    if "pointer" not in value and any(isinstance(inner, Mapping) for inner in value.values()):
        table.note(name, f'holds tables; a type whose name holds a dot needs quotes: [types."{type_}.{name}"]')
        return Variable(_NO_POINTER, VariableType.TEXT)
    inner = table.table(name)
    pointer = inner.read("pointer", _pointer, _NO_POINTER)
    variable_type = inner.read("type", _variable_type, VariableType.TEXT)
    inner.refuse_unknown()
    return Variable(pointer, variable_type)


def _id_document(place: IdPlace) -> object:
    return place[0].text if len(place) == 1 else [pointer.text for pointer in place]


def _variable_document(name: str, variable: Variable) -> object:
    if variable.pointer == _own_place(name):
        return variable.type.value
    return Inline(pointer=variable.pointer.text, type=variable.type.value)


def _own_place(name: str) -> Pointer:
    """The place of a variable whose document gives only its type."""
    return Pointer(f"/{name}")


def _variable_name(value: object) -> str:
    name = _variable_text(value)
    if name in NOT_VARIABLES:
        raise Bad(f"every event has its own {name}; name its place as {name.removesuffix('_id')} under fields")
    return name


def _pointer(value: object) -> Pointer:
    return Pointer(_pointer_text(value))


def _id_place(value: object) -> IdPlace:
    if isinstance(value, str):
        return (_pointer(value),)
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MAX_ID_PARTS:
        raise Bad(f"{fields.shown(value)}; write a JSON pointer, or an array of at most {MAX_ID_PARTS} of them")
    return tuple(map(_pointer, value))
