"""The rounds of one part of the store, by way of what is kept of closed parts."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from abacus.core.errors import Unavailable
from abacus.platform.gatherer import PendingRequest
from abacus.platform.health import Health
from abacus.platform.reading.store_rounds import StoreRounds
from abacus.signals.counters.metrics import COUNT_RANGES, COUNT_STORE_SECONDS
from abacus.signals.counters.reading.closed_parts import ClosedParts
from abacus.signals.counters.reading.types import Parts
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import SlotRange

_MOST_RANGES: Final = 4000  # of one question to the store
_OF_THE_ROUND: Final = COUNT_RANGES.labels("round")
_OF_THE_STORE: Final = COUNT_RANGES.labels("store")


class PartSums(NamedTuple):
    """What a round found out. A range whose sum is missing could not be read, and the failure says why."""

    by_range: Mapping[SlotRange, int]
    failure: Unavailable | None = None


_Pending: TypeAlias = PendingRequest[Parts, PartSums]


class PartRounds:
    """Reads the sums of ranges. What was read of closed parts is kept in `parts`. `name` is the name of the part of the
    store.
    """

    def __init__(
        self,
        name: str,
        store: CounterStore,
        *,
        within_s: float,
        parts: ClosedParts,
        at_once: int,
        health: Health | None,
    ) -> None:
        self._store = store
        self._parts = parts
        self._rounds: StoreRounds[Parts, PartSums] = StoreRounds(
            name, self._round, within_s=within_s, at_once=at_once, health=health
        )

    async def read(self, wanted: Parts) -> PartSums:
        """The sums of these ranges, and perhaps of others, as far as they can be read within the time."""
        try:
            return await self._rounds.read(wanted)
        except Unavailable as error:
            return PartSums({}, error)

    async def why_away(self, probe: SlotRange) -> Unavailable | None:
        """Why it does not answer to this range; None where it does."""
        try:
            await self._rounds.ask_store(partial(self._store.sums, [probe]))
        except Unavailable as error:
            return error
        return None

    async def close(self) -> None:
        """Waits for the rounds that are under way."""
        await self._rounds.close()

    async def _round(self, pending: Sequence[_Pending]) -> None:
        closed = [part for each in pending for part in each.request.closed]
        opened = dict.fromkeys(part for each in pending for part in each.request.open)
        _OF_THE_ROUND.inc(sum(len(each.request.open) for each in pending) - len(opened))

        async def ask(unknown: Sequence[SlotRange], sums: dict[SlotRange, int]) -> Unavailable | None:
            return await self._ask_store([*unknown, *opened], sums)

        sums = PartSums(*await self._parts.read(closed, ask))
        for each in pending:
            each.answer(sums)

    async def _ask_store(self, ranges: Sequence[SlotRange], sums: dict[SlotRange, int]) -> Unavailable | None:
        """Adds the sums that the store has given, and returns why it has not given all."""
        waiting = iter(ranges)
        while chunk := list(islice(waiting, _MOST_RANGES)):
            began = time.perf_counter()
            try:
                found = await self._rounds.ask_store(partial(self._store.sums, chunk))
            except Unavailable as error:
                return error
            COUNT_STORE_SECONDS.observe(time.perf_counter() - began)
            _OF_THE_STORE.inc(len(chunk))
            sums.update(zip(chunk, found, strict=True))
        return None
