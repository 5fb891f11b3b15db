"""A case: a name, what it is about, and how it is played."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from abacus.exchanges.conformance.kit import Kit

Play: TypeAlias = Callable[[Kit], Awaitable[None]]


class Case(NamedTuple):
    """`play` raises `Broken`, and `NotOffered`."""

    name: str
    about: str
    play: Play


class Cases:
    """The cases of a module, in the order in which they stand there."""

    def __init__(self) -> None:
        self.all: list[Case] = []

    def case(self, about: str) -> Callable[[Play], Play]:
        """Takes a function as a case of its name."""

        def taken(play: Play) -> Play:
            self.all.append(Case(play.__name__.replace("_", "-"), about, play))
            return play

        return taken
