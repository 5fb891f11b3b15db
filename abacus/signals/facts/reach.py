"""Values that lie with members: each slice is asked by itself, and what an unreachable slice has cannot be told now."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import chain
from typing import Protocol, TypeVar

from abacus.platform import slices
from abacus.platform.postgres import Pool
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

    async def look(_: slices.Slice, places: Sequence[int]) -> Iterable[tuple[int, Found]]:
        return zip(places, await load([wanted[place] for place in places]), strict=True)

    places = range(len(wanted))
    split = await slices.split(pool, places, look, member_of=lambda place: wanted[place][0].member_id)
    found = dict(chain.from_iterable(split.done))
    return [found.get(place, NOT_NOW) for place in places]
