"""Budgets of partners while a ledger in slices is posted to: who posts takes from the part of its slice, beside the
accounts. A slice that is short is handed more of the whole. Where too little is left of that, a batch locks the whole
and all parts, so that the last point is given out exactly.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC
from typing import Final, TypeAlias, TypeVar

from abacus.core.clock import Clock
from abacus.ledger.decide.allowance import Short
from abacus.ledger.decide.budgets import handed_out
from abacus.ledger.store.allowances import lock_parts, lock_wholes, open_parts, write_parts, write_wholes
from abacus.platform.postgres import Pool, passing_failures, slicing_of
from abacus.platform.sliced import stay
from abacus.platform.spreading import commit_together

Result = TypeVar("Result")
Whole: TypeAlias = Collection[str]  # the partners whose budgets are locked everywhere

_SHARE: Final = 32  # the slices together are handed this part of what is left


class Budgets:
    """Every method raises `Unavailable`."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def within(self, schema: str | None, attempt: Callable[[Whole], Awaitable[Result]]) -> Result:
        """What comes of work in that slice. An attempt that is `Short` is followed by one with more in hand, or with
        the whole.
        """
        whole = frozenset[str]()
        while True:
            try:
                return await attempt(whole)
            except Short as short:
                whole |= await self._hand_out(schema, short.wanted)

    async def _hand_out(self, schema: str | None, wanted: Mapping[str, int]) -> set[str]:
        """Hands the slice so many points of each partner. Returns the partners of whose budgets less is left, and those
        that nobody knows.
        """
        slicing, today = await slicing_of(self._pool), self._clock.now().astimezone(UTC).date()
        async with passing_failures(), self._pool.acquire(schema=schema) as connection, connection.transaction():
            await commit_together(connection)
            wholes = await lock_wholes(connection, wanted)
            await open_parts(connection, wholes)
            await stay(connection)
            handed = {
                partner_id: handed_out(wholes[partner_id], part, wanted[partner_id], _SHARE * slicing.slices, today)
                for partner_id, part in (await lock_parts(connection, wholes)).items()
            }
            given = {partner_id: each for partner_id, each in handed.items() if each is not None}
            await write_wholes(connection, {partner_id: each.whole for partner_id, each in given.items()})
            await write_parts(connection, {partner_id: each.part for partner_id, each in given.items()})
        return set(wanted).difference(given)
