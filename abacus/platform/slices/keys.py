"""Keys that are unique over all slices."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from abacus.platform.key_register import entered
from abacus.platform.postgres import Pool
from abacus.platform.slices.reach import slice_map_of


class OfMember(Protocol):
    """A thing of one member, under a key."""

    @property
    def key(self) -> str: ...

    @property
    def member_id(self) -> str: ...


Thing = TypeVar("Thing", bound=OfMember)


async def with_own_keys(pool: Pool, things: Iterable[Thing]) -> list[Thing]:
    """The things whose key belongs to their member's slice, one for each key: a key belongs to the slice of the thing
    that came with it first, now or before. Raises `Unavailable`.
    """
    slice_map = await slice_map_of(pool)
    wanted: dict[str, int] = {}
    firsts: dict[tuple[int, str], Thing] = {}
    for thing in things:
        number = slice_map.slice_of(thing.member_id)
        wanted.setdefault(thing.key, number)
        firsts.setdefault((number, thing.key), thing)
    holders = await entered(pool, wanted) if slice_map.slices > 1 else wanted
    return [thing for (number, key), thing in firsts.items() if holders[key] == number]
