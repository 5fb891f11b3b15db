"""`--turn 2/5`: of the short tests those whose turn it is, so that five changes in a row run them all once."""

from argparse import ArgumentTypeError
from typing import NamedTuple
from zlib import crc32

import pytest


class Turn(NamedTuple):
    number: int
    of: int

    def has(self, test: str) -> bool:
        return crc32(test.encode()) % self.of == self.number - 1


def turn(said: str) -> Turn:
    try:
        number, of = map(int, said.split("/"))
    except ValueError:
        raise ArgumentTypeError(f"{said!r} is no turn such as 2/5") from None
    if not 1 <= number <= of:
        raise ArgumentTypeError(f"there is no turn {number} of {of}")
    return Turn(number, of)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("abacus").addoption(
        "--turn", type=turn, metavar="N/OF", help="of the short tests, every OF-th, with another N others"
    )


def leave_to_other_turns(config: pytest.Config, items: list[pytest.Item]) -> None:
    given: Turn | None = config.getoption("turn", None)
    if given is None:
        return
    left = [item for item in items if not (item.get_closest_marker("long") or given.has(item.nodeid))]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item.get_closest_marker("long") or given.has(item.nodeid)]
