"""How much is taken at once of what waits for members, in rows of up to five hundred of them each. Pure.

A transaction locks what it takes, and uses as many rows as have so many members together. So it takes as many as
had them last time, and begins with one: rows that it would lock for nothing are free for others.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from abacus.engage.journeys.decide.packs import LARGEST

MOST: Final = 64  # rows, however few members they have


class _OfMembers(Protocol):
    @property
    def members(self) -> Sequence[int]: ...


Some = TypeVar("Some", bound=_OfMembers)


@dataclass(slots=True)
class Portion:
    """How many rows are taken `at_once`, for so many members together."""

    members: int = LARGEST
    at_once: int = 1

    def used(self, rows: int, members: int) -> None:
        """So many rows were used, with so many members together; nothing is learned of none."""
        if rows:
            self.at_once = max(1, min(MOST, 2 * rows, self.members * rows // max(1, members)))


def first_together(some: Iterable[Some], most: int = LARGEST) -> Iterator[Some]:
    """The first of them, of at most so many members together; one at least."""
    members = 0
    for each in some:
        members += len(each.members)
        if members > most and members > len(each.members):
            return
        yield each
