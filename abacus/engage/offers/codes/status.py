"""The line of single codes in the state of things: pools of offers in force, and what is left in them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.status import Problem, Undelivered
from abacus.documents.decide.states import Status
from abacus.engage.offers.codes.pools import batch_states, pool_states
from abacus.engage.offers.decide.offer import Audience
from abacus.engage.offers.metrics import OFFER_CODES_FREE, OFFER_CODES_LOW
from abacus.platform.measuring import set_series
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.platform.status import CapabilityStatus

_LOW: Final = 20  # with fewer than one of so many codes free

_IN_FORCE: Final = Statement(f"""
select name from offer where status = '{Status.APPROVED}' and ends_at > :now
    and document ->> 'audience' = '{Audience.CODE}' and document ->> 'code' is null
order by name
""")


class CodesLeft(NamedTuple):
    """The codes of an offer in force: how many were loaded, and how many of these are free."""

    offer: str
    loaded: int
    free: int

    @property
    def is_low(self) -> bool:
        return not self.free or self.free * _LOW < self.loaded


async def codes_left(pool: Pool, now: datetime) -> list[CodesLeft]:
    """Raises `Unavailable`."""
    async with passing_failures():
        names = [row["name"] for row in await pool.fetch(*_IN_FORCE(now=now))]
    pools = {each.offer: each for each in pool_states(await batch_states(pool, names))} if names else {}
    return [
        CodesLeft(one, pools[one].loaded, pools[one].free) if one in pools else CodesLeft(one, 0, 0) for one in names
    ]


async def measure_codes(pool: Pool, clock: Clock) -> None:
    """Raises `Unavailable`."""
    left = await codes_left(pool, clock.now())
    set_series(OFFER_CODES_FREE, {each.offer: each.free for each in left})
    set_series(OFFER_CODES_LOW, {each.offer: each.is_low for each in left})


def told_of(left: Sequence[CodesLeft]) -> Undelivered:
    empty = [each.offer for each in left if not each.free]
    low = sum(each.is_low for each in left if each.free)
    figures = {"pools_of_offers": len(left), "low_pools_of_offers": low, "empty_pools_of_offers": len(empty)}
    told = f"{len(left):,} pools of offers, {low:,} low, {len(empty):,} empty"
    problem = None
    if empty:
        fault = f"no single code is free any more: {', '.join(empty)}"
        problem = Problem(fault, "abacus offers codes load NAME FILE, or end the offer", about="codes")
    return Undelivered("codes", told, figures, problem)


async def _undelivered(pool: Pool, clock: Clock) -> Undelivered:
    return told_of(await codes_left(pool, clock.now()))


STATUS: Final = CapabilityStatus(undelivered=_undelivered)
