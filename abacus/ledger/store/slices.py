"""Work on a ledger in slices: each slice's part in a transaction of its own, and keys that are unique over all slices.

A key is entered in the register, with its slice, before anything is written under it; the row never changes. So the
same key for members of two slices is seen before the second is paid.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeVar

from abacus.core.errors import Unavailable
from abacus.ledger.store.finding import claims_in, holders_of
from abacus.ledger.types.posting import Claim
from abacus.platform.postgres import Pool, passing_failures, slicing_of
from abacus.platform.sql import Statement

# Sorted, so that two that enter the same keys cannot wait for each other.
_ENTER: Final = Statement("""
with entered as (
    insert into key_slice (key, slice) select * from unnest(:keys::text[], :slices::smallint[])
    on conflict do nothing returning true
) select count(*) from entered
""")


class OfMember(Protocol):
    """What concerns one member."""

    @property
    def member_id(self) -> str: ...


Thing = TypeVar("Thing", bound=OfMember)
Result = TypeVar("Result")

# Does the things of one slice, in the schema, if there is one; the claims are those that other slices have.
Work = Callable[[str | None, Sequence[Thing], Mapping[str, Claim]], Awaitable[Sequence[Result]]]


async def in_slices(
    pool: Pool,
    things: Sequence[Thing],
    keys_of: Callable[[Thing], Iterable[str]],
    work: Work[Thing, Result],
    waits: Callable[[Thing], Result] | None = None,
) -> list[Result]:
    """The results in the order of the things. Slices are worked on one after the other: what the first have done stays
    done when another fails. While the server of a slice is away its things have the result `waits`, if there is one and
    others were done. Raises `Unavailable`, and what the work raises.
    """
    slicing = await slicing_of(pool)
    if not slicing.is_cut:
        return list(await work(None, things, {}))
    parts = slicing.by_slice(range(len(things)), lambda place: things[place].member_id)
    first: dict[str, int] = {}
    for thing in things:
        for key in keys_of(thing):
            first.setdefault(key, slicing.slice_of(thing.member_id))
    holders = await _entered(pool, first)
    results: dict[int, Result] = {}
    away: list[Unavailable] = []
    for number, places in parts.items():
        part = [things[place] for place in places]
        foreign = {key: holders[key] for thing in part for key in keys_of(thing) if holders[key] != number}
        try:
            elsewhere = await _claims_of(pool, foreign) if foreign else {}
            results.update(zip(places, await work(slicing.home(number), part, elsewhere), strict=True))
        except Unavailable as error:
            away.append(error)
            if waits is None or len(away) == len(parts):
                raise
            results.update((place, waits(things[place])) for place in places)
    return [results[place] for place in range(len(things))]


async def _entered(pool: Pool, slices: Mapping[str, int]) -> Mapping[str, int]:
    """Enter the keys; returns the slice that each belongs to, now or since before."""
    keys = sorted(slices)
    async with passing_failures():
        entered = await pool.fetchval(*_ENTER(keys=keys, slices=[slices[key] for key in keys]))
        if entered == len(keys):
            return slices
    return await holders_of(pool, keys)


async def _claims_of(pool: Pool, holders: Mapping[str, int]) -> dict[str, Claim]:
    """The claims of keys that belong to other slices. Where nothing is posted under such a key, or not yet, the claim
    names nobody.
    """
    parts: defaultdict[int, list[str]] = defaultdict(list)
    for key, number in holders.items():
        parts[number].append(key)
    return {key: Claim(key, "", "", 0, "") for key in holders} | await claims_in(pool, parts)
