"""Boxes around boxes: of things in a row, of which neighbours lie near each other, sixteen have a box, and so on."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from abacus.signals.places.decide.point import TURN
from abacus.signals.places.decide.sphere import Box

SIXTEEN: Final = 16


def levels_over(boxes: Iterable[Box]) -> list[list[Box]]:
    """The boxes around sixteen each, around sixteen of those, and on until sixteen are left at most; none over so few
    things.
    """
    levels: list[list[Box]] = []
    level = list(boxes)
    while len(level) > SIXTEEN:
        level = list(map(_around, _by_sixteen(level)))
        levels.append(level)
    return levels


def first_of_levels(things: int) -> list[int]:
    """Where each level begins, of all that lie behind each other, and the end."""
    first = [0]
    while things > SIXTEEN:
        things = -(-things // SIXTEEN)
        first.append(first[-1] + things)
    return first


def _by_sixteen(boxes: Sequence[Box]) -> Iterator[Sequence[Box]]:
    rest = iter(boxes)
    while some := list(islice(rest, SIXTEEN)):
        yield some


def _around(boxes: Sequence[Box]) -> Box:
    wests, souths, easts, norths = zip(*boxes, strict=True)
    west = min(wests)
    return Box(west, min(souths), min(west + TURN, max(easts)), max(norths))
