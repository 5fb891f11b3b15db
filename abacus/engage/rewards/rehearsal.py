"""Redemptions of test keys in the sandbox: the rewards in force, for members who are in no segment and were never
counted, out of pools that are filled with codes of no worth. No worker carries out what fulfillers would be asked.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from secrets import token_hex
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.engage.asking.facts import AskingMember, KnownMembers
from abacus.engage.downstreams.decide.question import EXTERNAL
from abacus.engage.rewards.decide.reward import FromPool
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.pools import CodeLoader, free_codes
from abacus.platform.encryption import Secrets, SecretUnreadable
from abacus.platform.postgres import Pool
from abacus.signals.facts.decide.counter_sides import COUNTER
from abacus.signals.facts.members import SegmentFacts
from abacus.signals.facts.one_value import OneValue
from abacus.signals.facts.types import FactRegistry
from abacus.signals.segments.sets import Pair

_LEAST: Final = 200  # free codes of a pool
_AT_ONCE: Final = 1_000
_LOOK_EVERY_S: Final = 5.0

log = structlog.get_logger(__name__)


async def in_none(pairs: Collection[Pair]) -> Mapping[Pair, bool]:
    """Segments are of live members."""
    return dict.fromkeys(pairs, False)


def rehearsed_facts() -> FactRegistry[AskingMember]:
    """Nothing is counted, and services say nothing."""
    return FactRegistry(SegmentFacts(in_none), KnownMembers(), OneValue(COUNTER, 0), OneValue(EXTERNAL, None))


async def keep_stocked(
    pool: Pool, offered: Callable[[], Mapping[str, Offered]], secrets: Secrets, clock: Clock
) -> None:
    """Until cancelled: fills the sandbox's pools of the rewards in force."""
    while secrets.encrypts:
        try:
            await _stock(pool, offered(), CodeLoader(pool, secrets), clock)
        except (Unavailable, Refused, SecretUnreadable) as error:
            log.warning("the sandbox has no codes", away=error)
        await asyncio.sleep(_LOOK_EVERY_S)


async def _stock(pool: Pool, offered: Mapping[str, Offered], loader: CodeLoader, clock: Clock) -> None:
    free = await free_codes(pool)
    deliveries = [each.reward.delivery for each in offered.values()]
    for name in sorted({each.pool for each in deliveries if isinstance(each, FromPool)}):
        if free.get(name, 0) < _LEAST:
            await loader.load(name, _codes(), clock.now())


def _codes() -> Iterator[str]:
    return (f"TEST-{token_hex(6).upper()}" for _ in range(_AT_ONCE))
