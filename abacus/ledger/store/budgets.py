"""Budgets of partners while a ledger in slices is posted to: a batch takes from the part of its slice, beside the
accounts. A slice that is short is handed more of the whole. Where too little is left of that, a batch locks the whole
and all parts, so that the last point is given out exactly.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC
from typing import Final, Generic, TypeAlias, TypeVar

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.ledger.decide.allowance import Short
from abacus.ledger.decide.budgets import handed_out
from abacus.ledger.store.allowances import lock_parts, lock_wholes, open_parts, write_parts, write_wholes
from abacus.platform.postgres import Pool
from abacus.platform.slices import Slice, slices_of

Thing = TypeVar("Thing")
Result = TypeVar("Result")
Whole: TypeAlias = Collection[str]  # the partners whose budgets are locked everywhere

# Does the things in one transaction of their slice.
Work: TypeAlias = Callable[[Sequence[Thing], Whole], Awaitable[Sequence[Result]]]

_SHARE: Final = 32  # the slices together are handed this part of what is left


class Budgets(Generic[Thing, Result]):
    """Sees to it that work in a slice has the budgets of its partners at hand.

    What cannot be told because a server is away has the result `waits`, and nothing else waits with it.
    """

    def __init__(
        self, pool: Pool, clock: Clock, partner_of: Callable[[Thing], str | None], waits: Callable[[Thing], Result]
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._partner_of = partner_of
        self._waits = waits

    async def within(self, slice_: Slice, things: Sequence[Thing], work: Work[Thing, Result]) -> list[Result]:
        """The results of the work, in the order of the things. Work that is `Short` is done again with more in hand, or
        with the whole. Raises `Unavailable`.
        """
        whole, waiting = frozenset[str](), frozenset[str]()
        while True:
            going = self._not_of(waiting, things) if waiting else things
            try:
                results = await work(going, whole) if going else ()
            except Short as short:
                try:
                    whole |= await self._hand_out(slice_, short.wanted)
                except Unavailable:
                    waiting |= short.wanted.keys()
            except Unavailable:
                if not whole:
                    raise
                whole, waiting = frozenset(), waiting | whole
            else:
                return list(results) if not waiting else self._filled_up(things, waiting, iter(results))

    def _not_of(self, waiting: Collection[str], things: Sequence[Thing]) -> list[Thing]:
        return [thing for thing in things if self._partner_of(thing) not in waiting]

    def _filled_up(self, things: Sequence[Thing], waiting: Collection[str], done: Iterator[Result]) -> list[Result]:
        return [self._waits(thing) if self._partner_of(thing) in waiting else next(done) for thing in things]

    async def _hand_out(self, slice_: Slice, wanted: Mapping[str, int]) -> set[str]:
        """Hands the slice the `wanted` points of each partner. Returns the partners whose budgets have less left, and
        unknown partners.
        """
        share, today = _SHARE * len(await slices_of(self._pool)), self._clock.now().astimezone(UTC).date()
        async with slice_.together() as connection:
            wholes = await lock_wholes(connection, wanted)
            await open_parts(connection, wholes)
            handed = {
                partner_id: handed_out(wholes[partner_id], part, wanted[partner_id], share, today)
                for partner_id, part in (await lock_parts(connection, wholes)).items()
            }
            given = {partner_id: each for partner_id, each in handed.items() if each is not None}
            await write_wholes(connection, {partner_id: each.whole for partner_id, each in given.items()})
            await write_parts(connection, {partner_id: each.part for partner_id, each in given.items()})
        return set(wanted).difference(given)
