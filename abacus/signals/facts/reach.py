"""Values that lie with members: each slice is asked by itself, and what an unreachable slice has cannot be told now."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from abacus.platform.postgres import Pool
from abacus.platform.slices.sliced import slicing_of, unless_away
from abacus.signals.facts.types import NOT_NOW, Found, Subject, Wish


class AMember(Subject, Protocol):
    """A member, in whose slice values lie."""

    @property
    def member_id(self) -> str: ...


AMemberT = TypeVar("AMemberT", bound=AMember)


async def in_reach(
    pool: Pool,
    wanted: Sequence[Wish[AMemberT]],
    load: Callable[[Sequence[Wish[AMemberT]]], Awaitable[Sequence[Found]]],
) -> list[Found]:
    """The values that `load` tells for members of one slice, in the order of the wishes."""
    found: dict[int, Found] = {}
    slicing = await slicing_of(pool)
    for places in slicing.by_slice(range(len(wanted)), lambda place: wanted[place][0].member_id).values():
        values = await unless_away(pool, load([wanted[place] for place in places]))
        found |= dict(zip(places, [NOT_NOW] * len(places) if values is None else values, strict=True))
    return [found[place] for place in range(len(wanted))]
