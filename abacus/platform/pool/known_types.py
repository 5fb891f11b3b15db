"""What Postgres says of its own types, kept for all connections of the process: asyncpg else asks in each session anew,
which takes the server some five milliseconds.
"""

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any, Final

# Postgres gives numbers below this one by hand: such a type has the same number, name and parts in each database of
# each server. Numbers above are given by the server.
_GIVEN_BY_HAND: Final = 10_000

# Plain types and arrays of them, ranges, and ranges of several pieces. Rows of the catalog gain columns by and by.
_NEVER_CHANGED: Final = (b"b", b"r", b"m")

# asyncpg prepares a nameless statement again behind its question, which was not put here.
_NOT_ASKED: Final = SimpleNamespace(name="kept")


class KnownTypes:
    """As asyncpg is told of them."""

    def __init__(self) -> None:
        self._told: dict[int, Any] = {}

    def of(self, numbers: Iterable[int]) -> tuple[list[Any], Any] | None:
        """The answer for these types, each behind its parts. None where one of them is not known."""
        try:
            return [each for number in numbers for each in self._with_parts(number)], _NOT_ASKED
        except KeyError:
            return None

    def keep(self, told: Iterable[Any]) -> None:
        for each in told:
            if each["oid"] < _GIVEN_BY_HAND and each["kind"] in _NEVER_CHANGED:
                self._told[each["oid"]] = each

    def _with_parts(self, number: int) -> Iterator[Any]:
        told = self._told[number]
        for part in (told["elemtype"], told["range_subtype"]):
            if part:
                yield from self._with_parts(part)
        yield told


KNOWN_TYPES: Final = KnownTypes()
