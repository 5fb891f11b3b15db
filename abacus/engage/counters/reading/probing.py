"""Whether a store of counters answers."""

import asyncio

from abacus.core.errors import Unavailable
from abacus.engage.counters.reading.rounds import STORE
from abacus.engage.counters.store.port import CounterStore
from abacus.engage.counters.types import SlotRange


async def why_away(store: CounterStore, within_s: float) -> Unavailable | None:
    """Why no part of the store answers in time; None where some part does."""
    try:
        probes = await store.probes()
    except Unavailable as error:
        return Unavailable(STORE, str(error))
    failures = await asyncio.gather(*(_failure(store, each, within_s) for each in probes))
    return None if None in failures else failures[0]


async def _failure(store: CounterStore, probe: SlotRange, within_s: float) -> Unavailable | None:
    try:
        async with asyncio.timeout(within_s):
            await store.sums([probe])
    except Unavailable as error:
        return Unavailable(STORE, str(error))
    except TimeoutError:
        return Unavailable(STORE, "no answer in time")
    return None
