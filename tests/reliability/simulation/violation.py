"""How an invariant that does not hold is reported."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn


class Violated(AssertionError):
    """An invariant does not hold; `invariant` is its short name."""

    def __init__(self, invariant: str, detail: str) -> None:
        super().__init__(f"{invariant}: {detail}")
        self.invariant = invariant


@contextmanager
def invariant(name: str) -> Iterator[Callable[[str], NoReturn]]:
    """A block that is given a function: called with a detail, it raises a violation of the invariant of this name."""

    def violated(detail: str) -> NoReturn:
        raise Violated(name, detail)

    yield violated
