"""What concerns several members, so that each thing of one member comes behind the one before. Pure."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Thing = TypeVar("Thing")


def one_of_each(things: Iterable[Thing], member_of: Callable[[Thing], str]) -> list[list[Thing]]:
    """The things in parts, each with one of a member at most."""
    parts: list[list[Thing]] = []
    counts: dict[str, int] = {}
    for thing in things:
        member_id = member_of(thing)
        place = counts[member_id] = counts.get(member_id, -1) + 1
        if place == len(parts):
            parts.append([])
        parts[place].append(thing)
    return parts
