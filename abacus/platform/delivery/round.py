"""Taking what is due from a ledger in slices: one slice after the other, until there is no more room."""

import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from abacus.core.errors import Unavailable
from abacus.platform.delivery.types import Claim, Room
from abacus.platform.postgres import Pool
from abacus.platform.slices.sliced import slicing_of, unless_away

Taken = TypeVar("Taken", bound=Claim)

_RNG: Final = random.Random()


async def taken_round(
    pool: Pool, room: Room, take_in: Callable[[int, Room], Awaitable[Sequence[Taken]]]
) -> Sequence[Taken]:
    """What is taken in the slices, in an order of chance. Slices whose servers are away are left out. Raises
    `Unavailable`.
    """
    numbers = list(range((await slicing_of(pool)).slices))
    _RNG.shuffle(numbers)
    taken: list[Taken] = []
    for number in numbers:
        try:
            taken += await unless_away(pool, take_in(number, room.without(taken))) or []
        except Unavailable:
            if taken:
                break  # these would wait for their lease to end
            raise
        if len(taken) >= room.most:
            break
    return taken
