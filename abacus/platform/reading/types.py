"""What a route declares of its answers, so that they can be kept. Pure."""

from collections.abc import Callable, Collection
from math import inf
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from abacus.platform.reading.decide.lifetimes import Lifetimes

# The meaning of a request: two requests of one meaning have one answer. No floats: a border lies between two of them.
# Of a number and a truth that are equal, such as 1 and True, a route has one only at a place.
Meaning: TypeAlias = "str | int | tuple[Meaning, ...] | None"

Key = TypeVar("Key", bound=Meaning)
Value = TypeVar("Value")

# What a process knew of all that an answer follows from: where two processes say the same, they knew the same.
Version: TypeAlias = tuple[str | int, ...]

ALL: Final = 100  # percent


class Codec(NamedTuple, Generic[Value]):
    """How answers are written into the cache that processes share. A change of what is written has another `format`."""

    write: Callable[[Value], str]
    read: Callable[[str], Value]
    format: int = 1


def _no_tags(_key: Any, _value: Any) -> Collection[str]:
    return ()


def _always(_value: Any) -> float:
    return inf


class Route(NamedTuple, Generic[Key, Value]):
    """Answers of one kind. An answer follows from its key, which is a `Meaning`, and from the sources of the route. A
    change of these drops what has one of its tags: so an answer is tagged with all that could change it, also with what
    it says nothing of yet. `size_of` is the bytes of a key and its answer. `until_of` is the second since 1970 at which
    the clock alone makes the answer wrong, such as the end of an offer: from then on it is gone, and not stale.
    """

    name: str
    lifetimes: Lifetimes
    most_bytes: int
    size_of: Callable[[Key, Value], int]
    tags_of: Callable[[Key, Value], Collection[str]] = _no_tags
    until_of: Callable[[Value], float] = _always
    within_s: float | None = 0.5  # for a computation; None where it bounds itself
    share: int = ALL  # of the keys, in percent, while nobody has set another
    codec: Codec[Value] | None = None  # for the shared cache


class Answer(NamedTuple, Generic[Value]):
    """A value, and how long ago it was computed."""

    value: Value
    age_s: float
