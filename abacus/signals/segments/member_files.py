"""Files of members as sets of numbers: read twice, so that a file with a bad line gives nobody a number, and in
batches, so that a file may be larger than memory.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from pyroaring import BitMap

from abacus.core.errors import Refused
from abacus.signals.segments.files import BadLine
from abacus.signals.segments.types import Members

BATCH: Final = 20_000  # members whose numbers are given in one transaction

# Gives the numbers of members.
Give: TypeAlias = Callable[[Collection[str]], Awaitable[Mapping[str, int]]]


class Lines(NamedTuple):
    """How many lines a file has, and how many of them are bad."""

    total: int
    bad: int


def check(members: Iterable[str | BadLine], tell: Callable[[BadLine], None], tick: Callable[[], None]) -> Lines:
    """Read all lines and tell of each bad one."""
    total = bad = 0
    for each in members:
        total += 1
        if isinstance(each, BadLine):
            bad += 1
            tell(each)
        if total % BATCH == 0:
            tick()
    return Lines(total, bad)


async def number(members: Iterable[str | BadLine], give: Give, checked: Lines, tick: Callable[[], None]) -> Members:
    """The numbers of the members, the bad lines left out. Raises `Refused` when the file is not as it was checked."""
    numbers, batch, total, bad = BitMap(), dict[str, None](), 0, 0
    for each in members:
        total += 1
        if isinstance(each, BadLine):
            bad += 1
            continue
        batch[each] = None
        if len(batch) == BATCH:
            numbers |= BitMap((await give(batch)).values())
            batch.clear()
            tick()
    numbers |= BitMap((await give(batch)).values())
    if (total, bad) != checked:
        raise Refused("the file was changed while it was read; nothing is loaded")
    numbers.run_optimize()
    return Members(numbers)
