"""Reads a body as JSON that can be understood in one way only, with work that the size of the body bounds."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.problems import invalid, pointer, shortened
from abacus.core.json_names import Members, NamedTwice, each_once, standing_twice

MOST_MEMBERS: Final = 100  # of one object: ten times as many as any body that a route takes has

_MOST_READ_AGAIN: Final = 256 * 1024  # bytes; of a longer body the name is told, without its place


def read_json(content: bytes) -> Any:
    """The document in a body. Raises `ApiProblem` for what is not JSON, for an object that names a member twice, and
    for one with more members than any route knows: to check them one by one would keep all other callers waiting.
    """
    try:
        return _decoded(_CHECKING, content)
    except NamedTwice as error:
        if len(content) > _MOST_READ_AGAIN:
            raise ApiProblem("invalid", f"an object names {shortened(error.name)!r} twice") from None
        raise invalid([_first_named_twice(content)]) from None
    except (ValueError, RecursionError):
        raise ApiProblem("malformed", "the body is not JSON") from None


def _decoded(decoder: json.JSONDecoder, content: bytes) -> Any:
    return decoder.decode(content.decode(json.detect_encoding(content), "surrogatepass"))


def _checked(members: Members) -> dict[str, Any]:
    if len(members) > MOST_MEMBERS:
        raise ApiProblem("invalid", f"an object of {len(members)} members; it may have {MOST_MEMBERS}")
    return each_once(members)


_CHECKING: Final = json.JSONDecoder(object_pairs_hook=_checked)


class _Ambiguous(NamedTuple):
    """An object that names a member twice."""

    name: str


def _marked(members: Members) -> dict[str, Any] | _Ambiguous:
    by_name = dict(members)
    return by_name if len(by_name) == len(members) else _Ambiguous(standing_twice(members))


_MARKING: Final = json.JSONDecoder(object_pairs_hook=_marked)


def _first_named_twice(content: bytes) -> FieldFault:
    """Reads the body again: while an object is read, nobody knows where it stands. Raises `ApiProblem`."""
    try:
        document = _decoded(_MARKING, content)
    except (ValueError, RecursionError):
        raise ApiProblem("malformed", "the body is not JSON") from None
    path, ambiguous = next(_ambiguous_in(document))
    return FieldFault(pointer=pointer("", (*path, ambiguous.name)), detail="it stands twice")


def _ambiguous_in(document: Any) -> Iterator[tuple[tuple[Any, ...], _Ambiguous]]:
    """The outermost ambiguous objects, in the order of the document, with their paths."""
    way: list[Any] = []
    open_parts: list[Iterator[tuple[Any, Any]]] = [iter([(None, document)])]
    while open_parts:
        for name, value in open_parts[-1]:
            if isinstance(value, _Ambiguous):
                yield (*way, name)[1:], value
            elif isinstance(value, dict | list):
                way.append(name)
                open_parts.append(iter(value.items() if isinstance(value, dict) else enumerate(value)))
                break
        else:
            open_parts.pop()
            del way[-1:]
